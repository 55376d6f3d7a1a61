"""`semel suppressions` lists the addresses that must not be written to, and lifts what stands against one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.printing import print_array, say, show_table
from adapters.cli.session import opened

if TYPE_CHECKING:
    from adapters.application import Application

app = typer.Typer(rich_markup_mode=None)
"""The group of commands."""


@app.callback(invoke_without_command=True)
def suppressions(
    context: typer.Context,
    member: Annotated[str | None, typer.Option(metavar="ID", help="Only those about one member.")] = None,
    as_json: AsJson = False,
) -> None:
    """List addresses that must not be written to, or lift what stands against one.

    An address is shown as a hash, since it is personal. A hard bounce is over by itself after 30 days.
    """
    if context.invoked_subcommand is not None:
        return
    with opened(context) as application:
        found = list(_standing(application, member))
    if as_json:
        print_array(found)
    elif found:
        show_table(list(found[0]), [list(each.values()) for each in found])
    else:
        say("nothing is suppressed")


@app.command()
def lift(
    context: typer.Context,
    suppression: Annotated[str, typer.Argument(metavar="HASH", help="The address, as the list shows it.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it may be written to again.")],
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Lift all that stands against an address."""
    from adapters.database.suppressing import SuppressionDesk

    with opened(context) as application:
        desk = SuppressionDesk(application.log, application.clock, application.salt)
        lifted = desk.lift(suppression, reason=reason, by=who(by))
    rows = [{"suppression": suppression, "type": each.type, "sender": each.sender, "why": each.why} for each in lifted]
    if as_json:
        print_array(rows)
    else:
        show_table(list(rows[0]), [list(row.values()) for row in rows])


def _standing(application: Application, member: str | None) -> Iterator[Mapping[str, Any]]:
    from adapters.database.engine import reading
    from projections.suppressions import LISTED, standing

    about = None if member is None else member.removeprefix("member/")
    with reading(application.engine) as connection:
        for row in standing(connection, application.clock.now(), member=about):
            yield {name: row[name] for name in LISTED}
