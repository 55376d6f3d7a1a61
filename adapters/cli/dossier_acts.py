"""What staff do about dossiers on the command line: acts on runs, notes, and a dossier as one document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.faults import WRONG_INPUT
from adapters.cli.printing import as_json as json_text
from adapters.cli.printing import complain, print_array, say
from adapters.cli.session import opened
from domain.errors import InvalidInput

if TYPE_CHECKING:
    import sqlalchemy as sa

    from adapters.application import Application
    from automations.staff_acts import Acted, ActName
    from projections.dossier_lists import Dossier

SHORTEST = 4
"""Characters of an id or a key that are enough to name it, if nothing else begins so."""

Targets = Annotated[
    list[str],
    typer.Argument(metavar="ID…", help="A dossier, for all of its runs, or the key of one run; first characters do."),
]
Target = Annotated[str, typer.Argument(metavar="ID", help="The dossier; its first characters are enough.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept with who and when.")]


def retry(
    context: typer.Context, targets: Targets, reason: Reason = "", by: By = None, as_json: AsJson = False
) -> None:
    """Try again what did not succeed, under the same keys.

    What is done already is not repeated. What nobody needs any more, since its booking is cancelled or over,
    leaves the dossier without a call. Waiting runs are tried at once. It happens as soon as anybody works.
    """
    _act(context, "retry", targets, reason, by, as_json)


def done(context: typer.Context, targets: Targets, reason: Reason = "", by: By = None, as_json: AsJson = False) -> None:
    """Mark runs as done by hand: somebody did elsewhere what they were for."""
    _act(context, "done", targets, reason, by, as_json)


def dismiss(
    context: typer.Context, targets: Targets, reason: Reason = "", by: By = None, as_json: AsJson = False
) -> None:
    """Leave runs as they are, with a reason. Nothing more comes of them, and their keys stay taken."""
    _act(context, "dismiss", targets, reason, by, as_json)


def run_again(
    context: typer.Context,
    targets: Targets,
    reason: Reason = "",
    action: Annotated[
        int | None, typer.Option(min=1, metavar="NUMBER", help="Only this action of the run, counted from 1.")
    ] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Run again on purpose what ran already, also what is done, with a reason.

    It is a new series under new keys, so services do it once more.
    """
    _act(context, "run-again", targets, reason, by, as_json, action=None if action is None else action - 1)


def assign(
    context: typer.Context,
    target: Target,
    to: Annotated[str, typer.Argument(metavar="NAME", help="Who looks after it; '' for nobody.")],
    by: By = None,
) -> None:
    """Say who looks after a dossier."""
    with opened(context) as application:
        dossier = _one_dossier(application, target)
        application.dossier_acts().assign(dossier.id, to, who(by))
    say(f"dossier {dossier.id} is in the hands of {to}" if to else f"nobody looks after dossier {dossier.id} any more")


def note(
    context: typer.Context,
    target: Target,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be known about it.")],
    by: By = None,
) -> None:
    """Write a note into a dossier."""
    with opened(context) as application:
        dossier = _one_dossier(application, target)
        application.dossier_acts().note(dossier.id, text, who(by))
    say(f"noted in dossier {dossier.id}")


def export(
    context: typer.Context,
    target: Target,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; its name may end in .html.")
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="A page for people instead of JSON.")] = False,
) -> None:
    """Write everything about a dossier as one document: JSON, or a page that stands alone.

    Personal values are in it as long as they were not erased: handle it accordingly.
    """
    from adapters.database.engine import reading
    from adapters.dossiers.documents import dossier_document
    from adapters.dossiers.pages import dossier_page

    with opened(context) as application, reading(application.engine) as connection:
        dossier = _one(_dossiers(connection, target), target)
        document = dossier_document(connection, application.log.mapper, dossier)
    wants_page = html or (output is not None and output.suffix == ".html")
    text = dossier_page(document) if wants_page else json_text(document)
    if output is None:
        say(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{output}: cannot be written: {error.strerror or error}") from None
    say(f"dossier {dossier.id} is in {output}")


def register(app: typer.Typer) -> None:
    """Add the commands to the group of `semel dossiers`."""
    for name, command in _COMMANDS.items():
        app.command(name)(command)


def _act(
    context: typer.Context,
    act: ActName,
    targets: Sequence[str],
    reason: str,
    by: str | None,
    as_json: bool,
    action: int | None = None,
) -> None:
    from automations.staff_acts import Order

    order = Order(act, who(by), reason, action)
    with opened(context) as application:
        meant = [_meant(application, target) for target in targets]
        acted: list[Acted] = []
        read = 0
        for each in meant:
            if isinstance(each, str):
                acted += application.run_acts().act(order, [each])
            elif each.is_about_the_log:
                read += _act_on_events(application, order.act, each, reason, order.by)
            else:
                acted += application.run_acts().act_on_all(order, each.id)
        runs = _runs(application, [each.key for each in acted])
    _report(acted, read, runs, act, as_json)


def _act_on_events(application: Application, act: ActName, dossier: Dossier, reason: str, by: str) -> int:
    acts = application.dossier_acts()
    match act:
        case "retry":
            return acts.read_again(dossier.id, by)
        case "dismiss":
            return acts.leave_unread(dossier.id, reason, by)
        case _:
            raise InvalidInput(f"dossier {dossier.id} is about events that cannot be read: retry it, or dismiss it")


def _report(acted: Sequence[Acted], events: int, runs: dict[str, dict[str, Any]], act: ActName, as_json: bool) -> None:
    refused = [each for each in acted if each.refused]
    done_count = len(acted) - len(refused)
    if as_json:
        print_array(
            {**runs.get(each.key, {"key": each.key}), "done": not each.refused, "refused": each.refused}
            for each in acted
        )
    else:
        say(f"{act}: {done_count:,} of {len(acted):,} runs{f', {events:,} events' if events else ''}")
    for line in _refusals(refused, runs):
        complain(line)
    if not done_count and not events:
        raise typer.Exit(WRONG_INPUT)


def _refusals(refused: Sequence[Acted], runs: dict[str, dict[str, Any]]) -> Iterator[str]:
    for each in refused:
        run = runs.get(each.key)
        name = _name(run) if run else each.key
        yield f"{name}: {each.refused}"


def _name(run: dict[str, Any]) -> str:
    if "channel" in run:
        return f"{run['type']} to {run['to']} on {run['channel']}"
    return f"{run['rule'] or run['trigger']} for {run['entity']}"


def _runs(application: Application, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the runs and deliveries with these keys, as programs get them."""
    from adapters.cli.delivery_pages import delivery_object
    from adapters.cli.story_pages import run_object
    from adapters.database.engine import reading
    from projections.deliveries import listed
    from projections.executions import runs_by_key

    with reading(application.engine) as connection:
        runs = {row["key"]: run_object(row) for row in runs_by_key(connection, keys)}
        return runs | {row["delivery"]: delivery_object(row) for row in listed(connection, ids=keys)}


def _meant(application: Application, target: str) -> Dossier | str:
    """Return the dossier, the key of the run, or the id of the delivery that is meant."""
    from adapters.database.engine import reading
    from projections.deliveries import ids_beginning
    from projections.executions import keys_beginning

    with reading(application.engine) as connection:
        found: list[Dossier | str] = [*_dossiers(connection, target)]
        if not found and len(target) >= SHORTEST:
            found += [*keys_beginning(connection, target), *ids_beginning(connection, target)]
    if len(found) > 1:
        raise InvalidInput(f"{len(found)} dossiers, runs or deliveries begin with {target!r}: write more of it")
    if not found:
        raise InvalidInput(
            f"no dossier, no run and no delivery is called {target!r}:"
            " semel dossiers, semel runs and semel deliveries list them"
        )
    return found[0]


def _one_dossier(application: Application, target: str) -> Dossier:
    from adapters.database.engine import reading

    with reading(application.engine) as connection:
        return _one(_dossiers(connection, target), target)


def _dossiers(connection: sa.Connection, target: str) -> list[Dossier]:
    from projections.dossier_lists import dossiers_named

    return dossiers_named(connection, target) if len(target) >= SHORTEST else []


def _one(found: Sequence[Dossier], target: str) -> Dossier:
    from adapters.cli.dossiers import meant

    return meant(found, target)


_COMMANDS: dict[str, Callable[..., None]] = {
    "retry": retry,
    "done": done,
    "dismiss": dismiss,
    "run-again": run_again,
    "assign": assign,
    "note": note,
    "export": export,
}
