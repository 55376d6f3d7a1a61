"""`semel dossiers` lists what failed, grouped by cause; `semel dossiers show` tells the story of each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import AsJson
from adapters.cli.faults import FOUND
from adapters.cli.printing import cell_text, print_array, say, show_table
from adapters.cli.session import opened
from adapters.cli.story_pages import story_lines, story_object
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from projections.dossier_lists import Dossier

app = typer.Typer(rich_markup_mode=None)
"""The group of commands."""


@app.callback(invoke_without_command=True)
def dossiers(
    context: typer.Context,
    fail: Annotated[bool, typer.Option("--fail", help="Exit 1 if any dossier is open.")] = False,
    as_json: AsJson = False,
) -> None:
    """List what failed, or show one cause.

    A dossier holds the failed and unknown runs of one cause, as long as they are not put right.
    """
    from adapters.database.engine import reading
    from projections.dossier_lists import open_dossiers

    if context.invoked_subcommand is not None:
        return
    with opened(context) as application, reading(application.engine) as connection:
        found = open_dossiers(connection)
    if as_json:
        print_array(map(_object, found))
    elif found:
        columns = ("dossier", "cause", "runs", "since", "assigned to", "latest reason")
        show_table(columns, [_cells(dossier) for dossier in found])
    else:
        say("no dossier is open")
    if found and fail:
        raise typer.Exit(FOUND)


@app.command()
def show(
    context: typer.Context,
    dossier_id: Annotated[str, typer.Argument(metavar="ID", help="The dossier; its first characters are enough.")],
    as_json: AsJson = False,
) -> None:
    """Tell everything about one dossier.

    Each of its runs comes with what started it, the rule as it was, its conditions with their values, and
    every attempt: what was called, with which idempotency key, and the answer. No other log is needed to
    understand it.
    """
    from adapters.database.engine import reading
    from adapters.database.stories import Storyteller
    from projections.dossier_lists import dossiers_named

    with opened(context) as application, reading(application.engine) as connection:
        dossier = meant(dossiers_named(connection, dossier_id) if dossier_id else [], dossier_id)
        keys = [run["key"] for run in dossier.runs]
        stories = Storyteller(connection, application.log.mapper).stories(keys)
    if as_json:
        print_array(map(story_object, stories))
        return
    say("\n".join(heading(dossier)))
    for story in stories:
        say("\n".join(["", *story_lines(story, whole=True)]))


def heading(dossier: Dossier) -> Iterator[str]:
    """Return what a dossier is about, in lines."""
    yield f"dossier {dossier.id}: {dossier.cause}"
    if dossier.closed_at is not None and not dossier.is_open:
        yield f"closed at {cell_text(dossier.closed_at)}"
    else:
        assigned = f", in the hands of {dossier.assigned_to}" if dossier.assigned_to else ""
        yield f"{len(dossier.runs):,} open, since {cell_text(dossier.since)}{assigned}: {dossier.reason}"
    settled = ", ".join(f"{count:,} {how.replace('_', ' ')}" for how, count in dossier.settled.items() if count)
    if settled:
        yield f"settled: {settled}"


def meant(found: Sequence[Dossier], wanted: str) -> Dossier:
    """Return the one dossier that is meant; raises InvalidInput where there is none, or more than one."""
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidInput(f"{len(found)} dossiers begin with {wanted!r}: write more of it")
    raise InvalidInput(f"no dossier is called {wanted!r}: semel dossiers lists the open ones")


def _object(dossier: Dossier) -> dict[str, Any]:
    return {
        "dossier": dossier.id,
        "service": dossier.cause.service,
        "operation": dossier.operation,
        "ending": dossier.ending,
        "rule": dossier.rule,
        "runs": len(dossier.runs),
        "since": dossier.since,
        "reason": dossier.reason,
        "assigned_to": dossier.assigned_to,
        "keys": [run["key"] for run in dossier.runs],
    }


def _cells(dossier: Dossier) -> list[object]:
    return [dossier.id, dossier.cause, len(dossier.runs), dossier.since, dossier.assigned_to, dossier.reason]
