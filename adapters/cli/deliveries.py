"""`semel deliveries` lists what was sent, to whom, and what became of it; `semel deliveries show` tells one story."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from adapters.cli.authoring import AsJson
from adapters.cli.delivery_pages import delivery_lines, delivery_object
from adapters.cli.looking import EntityOption, checked
from adapters.cli.printing import as_json as json_text
from adapters.cli.printing import print_array, say, show_table
from adapters.cli.session import opened
from domain.errors import InvalidInput

app = typer.Typer(rich_markup_mode=None)
"""The group of commands."""

DeliveryStatus = StrEnum(
    "DeliveryStatus",
    [
        "pending",
        "held",
        "sending",
        "retrying",
        "sent",
        "unknown",
        "delivered",
        "bounced",
        "complained",
        "no_receipt",
        "failed",
        "skipped",
        "expired",
        "cancelled",
    ],
)
"""What can be asked for with `--status`."""

_COLUMNS = ("delivery", "to", "channel", "type", "status", "at", "attempts", "next_attempt_at", "reason")


@app.callback(invoke_without_command=True)
def deliveries(
    context: typer.Context,
    status: Annotated[
        list[DeliveryStatus] | None,
        typer.Option(metavar="STATUS", help=f"Only those that are {', '.join(DeliveryStatus)}; may be repeated."),
    ] = None,
    entity: EntityOption = None,
    to: Annotated[str | None, typer.Option(metavar="WHO", help="Only those to a member, or to staff.")] = None,
    channel: Annotated[str | None, typer.Option(metavar="NAME", help="Only those on one channel.")] = None,
    type_name: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Only those of one type.")] = None,
    as_json: AsJson = False,
) -> None:
    """List deliveries, in the order in which they began.

    What was not sent stands here too, with the reason. Failed ones can be sent anew: semel dossiers retry ID.
    """
    from adapters.database.engine import reading
    from projections.deliveries import listed

    if context.invoked_subcommand is not None:
        return
    with opened(context) as application, reading(application.engine) as connection:
        wanted = [str(one) for one in status or ()]
        rows = listed(connection, status=wanted, entity=checked(entity), to=_whom(to), channel=channel, type=type_name)
        found = [delivery_object(row) for row in rows]
    if as_json:
        print_array(found)
    elif found:
        show_table(_COLUMNS, [[row[name] for name in _COLUMNS] for row in found])
    else:
        say("no delivery")


@app.command()
def show(
    context: typer.Context,
    delivery_id: Annotated[str, typer.Argument(metavar="ID", help="The delivery; its first characters are enough.")],
    as_json: AsJson = False,
) -> None:
    """Tell everything about one delivery: what was sent, each attempt, and what came of it."""
    from adapters.database.delivery_stories import delivery_stories
    from adapters.database.engine import reading
    from projections.deliveries import ids_beginning

    with opened(context) as application, reading(application.engine) as connection:
        found = ids_beginning(connection, delivery_id) if delivery_id else []
        if len(found) > 1:
            raise InvalidInput(f"more than one delivery begins with {delivery_id!r}: write more of it")
        stories = delivery_stories(connection, application.log.mapper, found)
    if not stories:
        raise InvalidInput(f"no delivery is called {delivery_id!r}: semel deliveries lists them")
    say(json_text(stories[0].to_json()) if as_json else "\n".join(delivery_lines(stories[0])))


def _whom(to: str | None) -> str | None:
    """Return who was asked for as deliveries name them: a bare id is that of a member."""
    from domain.notifications import STAFF

    return to if to is None or to == STAFF or "/" in to else f"member/{to}"
