"""`semel demo` plays a month of a coworking space, and tells what ran once, what was kept away, what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import typer

from adapters.cli.printing import say, show_table
from adapters.cli.progress import bar
from adapters.cli.session import HERE, Session, application_on, session_of

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.demo.staging import Look, Played, Stage
    from adapters.ingestion.batches import Answer
    from adapters.settings import Settings
    from domain.rules import RuleState
    from projections.dossier_lists import Dossier

TOLD_RULE = "fee-for-no-shows"
"""The rule whose first run the demo suggests to look at: it was kept from repeating."""


def demo(context: typer.Context) -> None:
    """Play a month of a coworking space.

    Nobody in it exists. A clock of its own ticks every five minutes, and events come in, late and twice as in
    life. Rules act, once each; the door system is away for some hours, the power fails once, and a dossier
    explains what went wrong. Played again in the same database, nothing happens a second time. Give it a
    database of its own.
    """
    from adapters.logs import QUIET

    session = session_of(context)
    # A failure is a part of the story, so the log has nothing to add to it.
    session = replace(session, verbose=session.verbose or QUIET)
    settings = session.settings()
    with _stage(session, settings) as stage:
        played = _played(stage)
        for line in _story(stage.application, played):
            say(line)
        _show_rules(stage.application)
        for line in _ending(stage.application, played):
            say(line)
        named = settings.database_url.get_secret_value() != HERE
        suggestions = " · ".join(_suggestions(stage.application))
        say(f"\nlook further: {suggestions}{' (with the same --database)' if named else ''}")


@contextmanager
def _stage(session: Session, settings: Settings) -> Iterator[Stage]:
    """Hold the application of the demo on a clock of its own, set to the beginning of its month."""
    from adapters.clock import SimulatedClock, SystemClock
    from adapters.demo.incidents import Incidents
    from adapters.demo.services import Services
    from adapters.demo.staging import Stage, beginning, midnight_of

    now = SystemClock().now()
    with application_on(settings, session, create=True, clock=SimulatedClock(beginning(now))) as application:
        application.install()
        midnight = midnight_of(application, now)
    clock = SimulatedClock(beginning(midnight))
    incidents = Incidents(clock, beginning(midnight))
    with application_on(settings, session, clock=clock, services=Services(incidents)) as application:
        yield Stage(application, clock, midnight)


def _played(stage: Stage) -> Played:
    from adapters.demo.history import DAYS
    from adapters.demo.month import TICK
    from adapters.demo.staging import play

    with bar("playing") as shown:
        total = timedelta(days=DAYS) // TICK
        return play(stage, lambda ticks: shown.move_to(ticks, total, "ticks"))


def _story(application: Application, played: Played) -> Iterator[str]:
    from adapters.database.engine import place_of
    from adapters.demo.cast import SPACE
    from adapters.demo.history import DAYS

    last = (played.midnight - timedelta(days=1)).date()
    first = last - timedelta(days=DAYS - 1)
    yield f"{SPACE['name']}, {first} to {last}, in {place_of(application.engine.url)}"
    if not played.is_first:
        yield "This database has played the demo before; all of it comes in once more."
    else:
        yield f"{played.ticks:,} ticks on a clock of its own; the door system was away once, the power {_times(played)}"
    yield ""
    yield from _arrivals(played)
    yield ""
    yield from _looks(played.first_look)


def _times(played: Played) -> str:
    return {0: "never", 1: "once"}.get(played.crashes, f"{played.crashes} times")


def _arrivals(played: Played) -> Iterator[str]:
    counts = Counter(answer.status for answer in played.answers)
    known = counts["duplicate"]
    yield f"{len(played.answers):,} events came in: {counts['accepted']:,} recorded, {known:,} known already"
    for answer in played.answers:
        if not answer.is_good:
            yield f"  {_refusal(answer)}"


def _refusal(answer: Answer) -> str:
    told = "in conflict" if answer.status == "conflict" else "refused"
    return f"{told}: {answer.type} {answer.id}: {'; '.join(map(str, answer.mistakes))}"


def _looks(look: Look) -> Iterator[str]:
    if not look.candidates:
        yield "Nothing of it is new, so there was nothing to look at."
        return
    unmatched = look.candidates - look.runs - look.kept
    yield f"{look.candidates:,} candidates were found: a rule, and an event that may start it"
    yield f"  {unmatched:,} did not run: a condition said no"
    yield f"  {look.kept:,} were kept from repeating by their key"
    yield f"  {look.runs:,} ran{_endings(look.ended)}"


def _endings(ended: Mapping[str, int]) -> str:
    told = ", ".join(f"{count:,} {status}" for status, count in sorted(ended.items()))
    return f": {told}" if told else ""


def _show_rules(application: Application) -> None:
    from adapters.database.engine import reading
    from projections import executions

    with reading(application.engine) as connection:
        found = Counter((row["rule"], row["status"]) for row in executions.runs(connection))
    states = list(application.rules())
    say("")
    show_table(("rule", "starts with", "once", "done", "failed"), [_row(state, found) for state in states])


def _row(state: RuleState, found: Mapping[Any, int]) -> list[object]:
    rule = state.rule
    return [rule.name, rule.when, rule.once, found[rule.id, "done"], found[rule.id, "failed"]]


def _ending(application: Application, played: Played) -> Iterator[str]:
    for dossier in _dossiers(application):
        yield ""
        yield f"{len(dossier.runs):,} runs failed for one reason, in dossier {dossier.id}: {dossier.cause}"
        yield f"  {dossier.reason}"
    look = played.second_look
    yield ""
    yield f"Then the evaluator looked at all {look.events:,} events once more:"
    yield f"  {look.candidates:,} candidates again, {look.kept:,} of them kept away by their keys, {look.runs:,} ran"
    if not played.is_first and not played.first_look.runs and not look.runs:
        yield "Nothing happened a second time."


def _dossiers(application: Application) -> list[Dossier]:
    from adapters.database.engine import reading
    from projections.dossier_lists import open_dossiers

    with reading(application.engine) as connection:
        return open_dossiers(connection)


def _suggestions(application: Application) -> Iterator[str]:
    from adapters.database.engine import reading
    from projections import executions

    yield "semel runs"
    for dossier in _dossiers(application)[:1]:
        yield f"semel dossiers show {dossier.id}"
    with reading(application.engine) as connection:
        for row in executions.runs(connection, rule=TOLD_RULE)[:1]:
            yield f"semel why {row['entity']}"
