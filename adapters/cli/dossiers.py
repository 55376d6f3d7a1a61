"""`semel dossiers` lists what failed, grouped by cause; `semel dossiers show` tells the story of each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import AsJson
from adapters.cli.delivery_pages import delivery_lines
from adapters.cli.faults import FOUND
from adapters.cli.printing import cell_text, print_array, say, show_table
from adapters.cli.session import opened
from adapters.cli.story_pages import story_lines, story_object
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from projections.dossier_lists import Dossier

MOST_CLOSED = 1_000
"""Closed dossiers that are listed; each reopens where its cause returns, so there are not many."""

_COLUMNS = ("dossier", "cause", "runs", "since", "assigned to")

app = typer.Typer(rich_markup_mode=None)
"""The group of commands."""


@app.callback(invoke_without_command=True)
def dossiers(
    context: typer.Context,
    fail: Annotated[bool, typer.Option("--fail", help="Exit 1 if any dossier is open.")] = False,
    closed: Annotated[bool, typer.Option("--closed", help="Those that are closed, the latest first.")] = False,
    whatever: Annotated[bool, typer.Option("--all", help="The open ones, and then those that are closed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List what failed, or show one cause.

    A dossier holds the failed and unknown runs of one cause, as long as they are not put right. Then it is
    closed, and can still be shown.
    """
    from adapters.database.engine import reading
    from projections.dossier_lists import closed_dossiers, open_dossiers

    if context.invoked_subcommand is not None:
        return
    with opened(context) as application, reading(application.engine) as connection:
        still_open = open_dossiers(connection)
        found = [] if closed and not whatever else still_open
        if closed or whatever:
            found = [*found, *closed_dossiers(connection, MOST_CLOSED)]
    _list(found, as_json=as_json, what="is closed" if closed and not whatever else "is open")
    if still_open and fail:
        raise typer.Exit(FOUND)


def _list(found: Sequence[Dossier], *, as_json: bool, what: str) -> None:
    if as_json:
        print_array(map(_object, found))
    elif not found:
        say(f"no dossier {what}")
    elif all(_closed_at(dossier) is None for dossier in found):
        show_table((*_COLUMNS, "latest reason"), [_cells(dossier) for dossier in found])
    else:
        columns = (*_COLUMNS, "closed", "what came of it")
        show_table(columns, [[*_cells(dossier)[:-1], _closed_at(dossier), _outcome(dossier)] for dossier in found])


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
    from adapters.database.delivery_stories import delivery_stories, is_delivery_id
    from adapters.database.engine import reading
    from adapters.database.stories import Storyteller
    from projections.dossier_lists import dossiers_named, runs_of
    from projections.standings import STANDINGS

    with opened(context) as application, reading(application.engine) as connection:
        dossier = meant(dossiers_named(connection, dossier_id) if dossier_id else [], dossier_id)
        # What is open, or else all that ever stood in it since it was opened.
        rows = dossier.runs or runs_of(connection, dossier.id, STANDINGS)
        keys = [run["key"] for run in rows]
        mapper = application.log.mapper
        stories = Storyteller(connection, mapper).stories(key for key in keys if not is_delivery_id(key))
        deliveries = delivery_stories(connection, mapper, filter(is_delivery_id, keys))
    if as_json:
        print_array([*map(story_object, stories), *(each.to_json() for each in deliveries)])
        return
    say("\n".join(heading(dossier)))
    for story in stories:
        say("\n".join(["", *story_lines(story, whole=True)]))
    for each in deliveries:
        say("\n".join(["", *delivery_lines(each)]))


def heading(dossier: Dossier) -> Iterator[str]:
    """Return what a dossier is about, in lines."""
    yield f"dossier {dossier.id}: {dossier.cause}"
    if dossier.closed_at is not None and not dossier.is_open:
        yield f"closed at {cell_text(dossier.closed_at)}"
    else:
        assigned = f", in the hands of {dossier.assigned_to}" if dossier.assigned_to else ""
        yield f"{len(dossier.runs):,} open, since {cell_text(dossier.since)}{assigned}: {dossier.reason}"
    settled = _settled(dossier)
    if settled:
        yield f"settled: {settled}"


def _settled(dossier: Dossier) -> str:
    return ", ".join(f"{count:,} {how.replace('_', ' ')}" for how, count in dossier.settled.items() if count)


def _outcome(dossier: Dossier) -> str:
    return dossier.reason if dossier.runs else _settled(dossier)


def _closed_at(dossier: Dossier) -> datetime | None:
    """Return when a dossier was closed, or None where it is open again."""
    return dossier.closed_at if not dossier.is_open and not dossier.runs else None


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
        "closed_at": _closed_at(dossier),
    }


def _cells(dossier: Dossier) -> list[object]:
    return [dossier.id, dossier.cause, len(dossier.runs), dossier.since, dossier.assigned_to, dossier.reason]
