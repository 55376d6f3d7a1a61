"""`semel test` runs scenario files: a timeline of events, and what the rules are expected to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.authoring import AsJson
from adapters.cli.faults import FOUND
from adapters.cli.printing import print_array, say
from adapters.cli.progress import Bar, bar
from adapters.cli.session import session_of

if TYPE_CHECKING:
    from adapters.scenarios import Result

Paths = Annotated[list[str], typer.Argument(metavar="PATH", help="Scenario files, or folders of them.")]


def run_scenarios(context: typer.Context, paths: Paths, as_json: AsJson = False) -> None:
    """Run scenario files.

    What differs from their expectations is printed with its place. Each scenario runs on a fresh embedded
    database with a clock and services of its own; with --database, on PostgreSQL. Nothing outside is
    called. Exits 1 if anything differs, 2 if a file has a mistake.
    """
    from adapters import logs
    from adapters.scenarios import run_files

    session = session_of(context)
    logs.configure(session.verbose)
    results: list[Result] = []
    with bar("testing") as shown:

        def finished(result: Result) -> None:
            results.append(result)
            _tell(result, shown, len(results), as_json=as_json)

        run_files(paths, session.database, finished=finished)
    if as_json:
        print_array(result.to_json() for result in results)
    else:
        failed = sum(1 for result in results if not result.ok)
        say(f"{len(results) - failed:,} passed, {failed:,} failed")
    if any(not result.ok for result in results):
        raise typer.Exit(FOUND)


def _tell(result: Result, shown: Bar, count: int, *, as_json: bool) -> None:
    shown.move_to(count, None, result.scenario)
    if not as_json:
        shown.say("\n".join(result.lines()))
