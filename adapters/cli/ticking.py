"""`semel tick` looks once at what fell due, `semel sweep` again at a window; `semel resume` ends a pause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.authoring import AsJson, By, who
from adapters.cli.printing import cell_text, print_array, say, show_table
from adapters.cli.session import opened
from adapters.cli.times import FromOption, ToOption, ZoneOption, window_of
from adapters.cli.working import sum_up
from domain.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from adapters.application import Application
    from adapters.database.restored import Waiting

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


def tick(context: typer.Context) -> None:
    """Look once at what fell due, and run it.

    Does what `semel work` does every minute, and then all that there is to do. Ticking again is free: nothing
    is run twice. Exits 2 while clock triggers are paused.
    """
    from adapters.loops import heartbeat

    with opened(context, writes=True) as application:
        crew = application.crew()
        with heartbeat(crew, application.settings.lease_seconds):
            crew.work_through()
            crew.worker.tick()
            crew.work_through()
        sum_up(crew.worked)
        _refuse_paused(application)


def sweep(context: typer.Context, start: FromOption = None, end: ToOption = None, zone: ZoneOption = None) -> None:
    """Look again at everything that was due in a window.

    By brute force, whatever was looked at before. It finds nothing new, unless something had been missed; what it
    finds is run. Exits 2 while clock triggers are paused.
    """
    from adapters.loops import heartbeat

    if start is None:
        raise InvalidInput("a sweep needs its beginning: --from 2026-05-12")
    with opened(context, writes=True) as application:
        _refuse_paused(application)
        window = window_of(application, start, end, zone)
        crew = application.crew()
        with heartbeat(crew, application.settings.lease_seconds):
            crew.work_through()
            before = crew.worked.claimed
            crew.worker.sweep(window)
            found = crew.worked.claimed - before
            crew.work_through()
    say(f"looked again from {cell_text(window.after)} to {cell_text(window.up_to)}")
    say(f"{found:,} found that nobody had run" if found else "nothing new")
    if found:
        sum_up(crew.worked)


def resume(context: typer.Context, yes: Yes = False, by: By = None, as_json: AsJson = False) -> None:
    """Let clock triggers act again after a pause.

    They pause by themselves when the clock was set far ahead, when no engine has looked for very long, and when
    the database was restored from a backup; then everything else waits too. Shows what would run now, and what
    is too late, and asks.
    """
    with opened(context) as application:
        reason = application.clock_desk().paused()
        rows = [(each.rule, each.runs, each.late, each.missed) for each in application.clock_desk().expected()]
        if as_json:
            print_array(dict(zip(("rule", "runs", "late", "missed"), row, strict=True)) for row in rows)
        elif reason is None:
            say("clock triggers are not paused")
        else:
            _show(reason, rows)
            _show_held(application.clock_desk().held())
            yes = yes or typer.confirm("let clock triggers act again?", abort=True)
        if reason is None or not yes:
            return
        application.clock_desk().resume(who(by))
    if not as_json:
        say("clock triggers act again: the next tick runs this")


def _show(reason: str, rows: list[tuple[str, int, int, int]]) -> None:
    say(f"clock triggers are paused: {reason}")
    if rows:
        say("the next tick would run now:")
        show_table(("rule", "runs", "of them late", "missed"), rows)
    else:
        say("the next tick would run nothing: nothing fell due meanwhile")


def _show_held(held: Waiting | None) -> None:
    """Say what waits besides in a restored database."""
    if held is None:
        return
    say("since the database was restored, everything else waits too, and would go on:")
    say(f"{held.events:,} events that no rule has looked at, {held.actions:,} actions of runs")
    say(f"{held.messages:,} messages, of which {held.expired:,} would expire: they are too late to be useful")


def _refuse_paused(application: Application) -> None:
    reason = application.clock_desk().paused()
    if reason is not None:
        raise Unavailable(f"clock triggers are paused: {reason}; semel resume shows what would run now, and asks")
