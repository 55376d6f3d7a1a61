"""`semel campaign` tells many members something, page by page, and lets staff pause, resume and cancel that."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.printing import as_json as json_text
from adapters.cli.printing import complain, print_array, say, show_table
from adapters.cli.session import opened
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from adapters.application import Application
    from automations.notifications.types import NotificationType
    from domain.campaigns import Campaign, CampaignAct

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)
"""The group of commands."""

Name = Annotated[str, typer.Argument(metavar="CAMPAIGN", help="Its name: the same one again tells nobody twice.")]


@app.callback()
def campaign() -> None:
    """Tell many members something.

    It goes out page by page, as fast as its channel, behind everything that is not bulk. Give its type the lane
    bulk in notifications.yaml.
    """


@app.command()
def start(
    context: typer.Context,
    name: Name,
    type_name: Annotated[str, typer.Option("--type", metavar="TYPE", help="The notification type.")],
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ids of members, one in a line; - reads standard input.")
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="All members with this tag.")] = None,
    everybody: Annotated[bool, typer.Option("--all", help="All members.")] = False,
    payload: Annotated[str, typer.Option(metavar="JSON", help="Values for the templates: an object.")] = "{}",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Start a campaign.

    Whom it addresses is fixed now. Workers send it: `semel work`, or `semel serve`.
    """
    from adapters.wording.known_names import require_worded

    values = _payload(payload)
    if [to is not None, tag is not None, everybody].count(True) != 1:
        raise InvalidInput("say whom to address: one of --to FILE, --tag TAG and --all")
    with opened(context) as application:
        _advise(application, require_worded(application, type_name), type_name)
        members = _listed(to) if to is not None else _found(application, tag)
        found = application.campaigns().start(name, type_name, members, values, who(by))
        _show(application, [found], as_json)


@app.command("list")
def list_all(context: typer.Context, as_json: AsJson = False) -> None:
    """List the campaigns, with what became of their deliveries."""
    with opened(context) as application:
        _show(application, application.campaigns().all(), as_json)


@app.command()
def show(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show one campaign."""
    with opened(context) as application:
        _show(application, [application.campaigns().require(name)], as_json)


@app.command()
def pause(context: typer.Context, name: Name, by: By = None) -> None:
    """Keep back what has not gone out."""
    from domain.campaigns import CampaignPaused

    _act(context, name, CampaignPaused, by, "paused")


@app.command()
def resume(context: typer.Context, name: Name, by: By = None) -> None:
    """Let a campaign go on."""
    from domain.campaigns import CampaignResumed

    _act(context, name, CampaignResumed, by, "resumed")


@app.command()
def cancel(context: typer.Context, name: Name, by: By = None) -> None:
    """End a campaign for good; what has not gone out never does."""
    from domain.campaigns import CampaignCancelled

    _act(context, name, CampaignCancelled, by, "cancelled")


def _act(context: typer.Context, name: str, act: type[CampaignAct], by: str | None, told: str) -> None:
    with opened(context) as application:
        changed = application.campaigns().act(name, act, who(by))
    say(f"{name}: {told}" if changed else f"{name}: was {told} already")


def _advise(application: Application, kind: NotificationType, type_name: str) -> None:
    """Say what is probably meant otherwise, where many are told."""
    if kind.lane != "bulk":
        complain(f"hint: {type_name} is {kind.lane}, so it goes out before other mail: campaigns have the lane bulk")
    if not application.settings.public_url:
        complain("hint: no public_url is set, so mails offer no way to unsubscribe")


def _payload(text: str) -> Mapping[str, Any]:
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"--payload: this is no JSON: {error}") from None
    if not isinstance(values, dict):
        raise InvalidInput('--payload: an object is needed, such as {"title": "Summer party"}')
    return values


def _listed(file: Path) -> list[str]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}") from None
    return [line.strip().removeprefix("member/") for line in text.splitlines() if line.strip()]


def _found(application: Application, tag: str | None) -> list[str]:
    from adapters.database.addressees import members_with
    from adapters.database.engine import reading

    with reading(application.engine) as connection:
        return list(members_with(connection, application.log.mapper, tag))


def _show(application: Application, campaigns: Sequence[Campaign], as_json: bool) -> None:
    rows = list(_rows(application, campaigns))
    if as_json:
        print_array(rows)
    elif rows:
        show_table(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])
    else:
        say("no campaign")


def _rows(application: Application, campaigns: Sequence[Campaign]) -> Iterator[dict[str, Any]]:
    from adapters.database.engine import reading
    from domain.campaigns import producer_of
    from projections.deliveries import counted

    with reading(application.engine) as connection:
        for campaign in campaigns:
            yield {
                "campaign": campaign.id,
                "type": campaign.started.type,
                "state": campaign.state,
                "members": campaign.started.members,
                "expanded": campaign.told,
                "deliveries": counted(connection, producer=producer_of(campaign.id)),
                "by": campaign.started.by,
                "at": campaign.started.at,
            }


def _cell(value: object) -> object:
    return json_text(value) if isinstance(value, dict) else value
