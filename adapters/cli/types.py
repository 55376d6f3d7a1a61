"""`semel types` lists the notification types, and checks them and their templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from adapters.cli.authoring import AsJson
from adapters.cli.faults import WRONG_INPUT
from adapters.cli.printing import complain, print_array, show_table
from adapters.cli.session import session_of

if TYPE_CHECKING:
    from automations.notifications.types import NotificationType
    from automations.notifications.wordings import Wordings


def types(context: typer.Context, as_json: AsJson = False) -> None:
    """List the notification types, and check them.

    They stand in notifications.yaml, their templates in files like templates/TYPE/email.de.liquid, beside
    those that come with Semel. Every mistake is named with its place; exits 2 if there is one. A type without
    a template is named, too, but is no mistake.
    """
    from adapters.wording.checking import checked
    from adapters.wording.files import templates_of
    from automations.notifications.wordings import Wordings

    settings = session_of(context).settings()
    found = checked(settings)
    for mistake in found.mistakes:
        complain(mistake)
    for hint in found.hints:
        complain(f"hint: {hint}")
    if found.mistakes:
        raise typer.Exit(WRONG_INPUT)
    wordings = Wordings(templates_of(settings))
    rows = [_row(name, kind, wordings) for name, kind in sorted(found.types.items())]
    if as_json:
        print_array(rows)
    else:
        columns = ("type", "channels", "lane", "urgency", "mandatory", "useful", "languages")
        show_table(columns, [_cells(row) for row in rows])


def _row(name: str, kind: NotificationType, wordings: Wordings) -> dict[str, Any]:
    from domain.durations import format_duration

    return {
        "type": name,
        "channels": [list(way) for way in kind.ways],
        "lane": kind.lane,
        "urgency": kind.urgency,
        "mandatory": kind.mandatory,
        "useful": kind.useful_until or format_duration(kind.useful_for),
        "languages": wordings.channels_of(name),
    }


def _cells(row: Mapping[str, Any]) -> list[object]:
    ways = ", ".join(" or else ".join(way) for way in row["channels"])
    languages = sorted({locale for locales in row["languages"].values() for locale in locales})
    return [row["type"], ways, row["lane"], row["urgency"], row["mandatory"], row["useful"], ", ".join(languages)]
