"""`semel work` runs the rules: until it is stopped, or until nothing is left that can be done now."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.faults import INTERRUPTED
from adapters.cli.printing import cell_text, complain, say
from adapters.cli.progress import Bar, bar, watching
from adapters.cli.restoring import NEXT
from adapters.cli.session import opened

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.workers import Worked

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def work(
    context: typer.Context,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when nothing is left that can be done now.")
    ] = False,
) -> None:
    """Run the rules.

    Looks at what was recorded, runs what matches, and tries again what could not be done before. Several
    may work at once, also on several machines. A first Ctrl-C or SIGTERM lets it finish what it is running;
    a second one leaves that to whoever works next, once its lease has run out.
    """
    from adapters.loops import Loop, heartbeat

    with opened(context, writes=True) as application, stopping() as stop, bar("working") as shown:
        crew = application.crew()
        if not crew.is_open():
            shown.complain(f"everything waits, since the database was restored from a backup: {NEXT}")
        settings = application.settings
        crew.waits = until_idle
        loop = Loop(crew, application.log, stop, poll=settings.poll_seconds)
        with heartbeat(crew, settings.lease_seconds), watching(look_at(application, shown)):
            if until_idle:
                worked = loop.until_idle(lambda held: _say_waiting(shown, held, settings.lease_seconds))
            else:
                worked = loop.until_stopped()
            crew.finish()
        later = _later(application)
    sum_up(worked)
    if later:
        say(later)
    if until_idle and stop.is_set():
        raise typer.Exit(INTERRUPTED)


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """Let the first signal ask for a stop, and the second one enforce it."""
    stop = threading.Event()

    def ask(number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        complain(f"{signal.Signals(number).name}: finishing what is being run; once more stops at once")

    before = {number: signal.signal(number, ask) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def look_at(application: Application, shown: Bar) -> Callable[[], None]:
    """Return what moves a bar to where the followers are."""
    from adapters.database import evaluating, log_queries, projecting
    from adapters.database.engine import reading

    def look() -> None:
        with reading(application.engine) as connection:
            head = log_queries.head_position(connection)
            followers = (projecting.FOLLOWER, evaluating.FOLLOWER)
            done = sum(log_queries.tracked_position(connection, name) for name in followers)
        shown.move_to(done / len(followers), head, "events")

    return look


def sum_up(worked: Worked) -> None:
    """Say what a worker has done."""
    unmatched = worked.candidates - worked.claimed - worked.kept
    ended = ", ".join(f"{count:,} {status}" for status, count in sorted(worked.ended.items())) or "none"
    say(f"{worked.events:,} events looked at, {worked.candidates:,} candidates found")
    say(f"runs: {ended}")
    say(f"kept from repeating: {worked.kept:,} · conditions said no: {unmatched:,}")


def _later(application: Application) -> str:
    """Return what waits for its time, in words, or nothing."""
    from adapters.database import queue
    from adapters.database.claims import QUEUE
    from adapters.database.engine import reading
    from adapters.database.lanes import next_opening

    with reading(application.engine) as connection:
        waits = [due for due in (queue.next_due(connection, QUEUE), next_opening(connection)) if due is not None]
    return f"some runs wait to be tried again, the next at {cell_text(min(waits))}" if waits else ""


def _say_waiting(shown: Bar, held: int, lease_seconds: float) -> None:
    shown.complain(
        f"{held:,} runs are in the hands of another worker; if it is gone, they are taken over within"
        f" {lease_seconds:g} s"
    )
