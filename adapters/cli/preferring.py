"""`semel preferences` shows what a member wants to be told on which channel, and changes it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import By, who
from adapters.cli.printing import as_json as json_text
from adapters.cli.printing import cell_text, say, show_table
from adapters.cli.session import opened
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.database.preferences import PreferenceDesk
    from domain.preferences import Preferences, Subject
    from domain.spaces import QuietHours

ALL = "all"
"""What stands in a table for every type or every channel."""


class Day(StrEnum):
    """The weekdays on which a night of quiet hours may begin."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


class Wish(StrEnum):
    """What can be wished for about a type on a channel."""

    ON = "on"
    OFF = "off"
    UNSET = "unset"


def preferences(
    context: typer.Context,
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="The member, such as m1.")],
    wish: Annotated[
        Wish | None,
        typer.Option("--set", metavar="on|off|unset", help="Change it; unset falls back to what the type says."),
    ] = None,
    type_name: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="What it is about; every type where it is left out.")
    ] = "",
    channel: Annotated[
        str, typer.Option(metavar="NAME", help="Which channel, such as email; every one where it is left out.")
    ] = "",
    quiet: Annotated[
        str | None,
        typer.Option(metavar="HOURS", help="Quiet hours: 22:00-08:00, none, or space for those of the space."),
    ] = None,
    day: Annotated[
        list[Day] | None, typer.Option(metavar="DAY", help="A weekday on which they begin; may be repeated.")
    ] = None,
    by: By = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print an object.")] = False,
) -> None:
    """Show or change what a member wants to be told.

    The exact choice counts before one for a whole type or channel, and between those a no. What is mandatory
    goes out whatever is chosen. Quiet hours of a member take the place of those of the space.
    """
    from adapters.database.preferences import PreferenceDesk
    from domain.preferences import Subject

    if wish is None and (type_name or channel):
        raise InvalidInput("say what to do with it: --set on, --set off or --set unset")
    identifier = member.removeprefix("member/")
    hours = _hours(quiet, day or [])
    with opened(context) as application:
        desk = PreferenceDesk(application.log, application.clock)
        if wish is not None:
            _choose(application, identifier, wish, Subject(type_name, channel), who(by))
        if quiet is not None:
            _keep_quiet(desk, identifier, quiet, hours, who(by))
        found = desk.of(identifier)
    if as_json:
        say(json_text(_object(identifier, found)))
    else:
        _show(found)


def _choose(application: Application, member: str, wish: Wish, subject: Subject, by: str) -> None:
    from adapters.database.preferences import PreferenceDesk
    from adapters.wording.known_names import require_subject

    desk = PreferenceDesk(application.log, application.clock)
    if wish is Wish.UNSET:
        desk.clear(member, subject, by=by)
    else:
        require_subject(application, subject)
        desk.choose(member, subject, enabled=wish is Wish.ON, by=by)


def _keep_quiet(desk: PreferenceDesk, member: str, quiet: str, hours: QuietHours | None, by: str) -> None:
    if quiet == "space":
        desk.clear_quiet_hours(member, by=by)
    else:
        desk.set_quiet_hours(member, hours, by=by)


def _hours(quiet: str | None, days: list[Day]) -> QuietHours | None:
    """Return the hours that were given, or None where there are to be none, or where nothing was said."""
    from pydantic import ValidationError

    from domain.spaces import QuietHours

    if quiet is None or quiet in ("none", "space"):
        if days:
            raise InvalidInput("--day goes with quiet hours: --quiet 22:00-08:00")
        return None
    start, dash, end = quiet.partition("-")
    try:
        return QuietHours.model_validate({"start": start.strip(), "end": end.strip(), "days": tuple(map(str, days))})
    except ValidationError as error:
        same = dash and start.strip() == end.strip()
        told = "they end where they begin" if same else "write them like 22:00-08:00"
        raise InvalidInput(f"--quiet {quiet!r} are no quiet hours: {told}") from error


def _object(member: str, found: Preferences) -> dict[str, Any]:
    return {
        "member": member,
        "choices": _choices(found),
        "own_quiet_hours": found.own_hours,
        "quiet_hours": None if found.quiet_hours is None else found.quiet_hours.model_dump(),
    }


def _choices(found: Preferences) -> list[dict[str, Any]]:
    return [
        {**subject._asdict(), "enabled": each.enabled, "how": each.how, "at": each.at}
        for subject, each in sorted(found.choices.items())
    ]


def _show(found: Preferences) -> None:
    rows = [
        (each["type"] or ALL, each["channel"] or ALL, "on" if each["enabled"] else "off", each["how"], each["at"])
        for each in _choices(found)
    ]
    if rows:
        show_table(("type", "channel", "wanted", "how", "since"), [[cell_text(cell) for cell in row] for row in rows])
    else:
        say("nothing is chosen: the defaults of the types count")
    if found.own_hours:
        say(f"quiet hours: {_told(found.quiet_hours)}")


def _told(hours: QuietHours | None) -> str:
    if hours is None:
        return "none, whatever the space has"
    days = f" on {', '.join(hours.days)}" if hours.days else ""
    return f"{hours.start} to {hours.end}{days}"
