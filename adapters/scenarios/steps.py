"""What each kind of step does: one function for each, found by the type of the step."""

from __future__ import annotations

from datetime import timedelta
from functools import singledispatch

from adapters.database.preferences import PreferenceDesk
from adapters.scenarios.captured_reports import report
from adapters.scenarios.performance import Performance
from adapters.scenarios.staff import act_on_runs
from adapters.scenarios.stage import BY
from automations.mistakes import Path
from automations.scenario import (
    ActOnRuns,
    ArchiveRule,
    ArmCrash,
    CallBack,
    Check,
    RecordEvent,
    SaveRule,
    SetClock,
    SetFaults,
    SetPreference,
    Step,
    Sweep,
    SwitchEngine,
    SwitchRule,
)
from domain.errors import InvalidInput
from domain.moment_ranges import Window
from domain.preferences import Subject

_INSTANT = timedelta(microseconds=1)
"""By how much a window begins before its first instant."""


def perform(step: Step, performance: Performance, path: Path) -> None:
    """Do what a step says, now; what is refused is noted and fails nothing."""
    try:
        _perform(step, performance, path)
    except InvalidInput as error:
        performance.note(path, f"refused: {error}")


@singledispatch
def _perform(step: object, performance: Performance, path: Path) -> None:
    raise TypeError(f"{type(step).__name__} is no step of a scenario")


@_perform.register
def _(step: RecordEvent, performance: Performance, path: Path) -> None:
    outcome = performance.stage.arrive(step)
    if outcome.status in ("conflict", "refused"):
        faults = "; ".join(map(str, outcome.mistakes))
        why = faults or f"another event of {outcome.source} has the id {outcome.id}"
        performance.note(path, f"{outcome.status}, so it changed nothing: {why}")


@_perform.register
def _(step: SwitchEngine, performance: Performance, path: Path) -> None:
    if step.running:
        performance.start()
    else:
        performance.stop()


@_perform.register
def _(step: SaveRule, performance: Performance, path: Path) -> None:
    performance.stage.save_rules([(step.authored.rule, step.authored.enabled)], BY)


@_perform.register
def _(step: SwitchRule, performance: Performance, path: Path) -> None:
    performance.stage.switch_rule(step.rule, "enabled" if step.enabled else "disabled", BY)


@_perform.register
def _(step: ArchiveRule, performance: Performance, path: Path) -> None:
    performance.stage.archive_rule(step.rule, BY)


@_perform.register
def _(step: SetFaults, performance: Performance, path: Path) -> None:
    performance.stage.switchboard.set(step.faults)


@_perform.register
def _(step: ArmCrash, performance: Performance, path: Path) -> None:
    performance.stage.crashes.arm(step.point)


@_perform.register
def _(step: SetClock, performance: Performance, path: Path) -> None:
    performance.stage.clock.jump(step.to)


@_perform.register
def _(step: Check, performance: Performance, path: Path) -> None:
    performance.check(step.expect)


@_perform.register
def _(step: Sweep, performance: Performance, path: Path) -> None:
    performance.sweep(Window(step.start - _INSTANT, step.end))


@_perform.register
def _(step: ActOnRuns, performance: Performance, path: Path) -> None:
    for refused in act_on_runs(performance.stage, step):
        performance.note(path, f"refused: {refused}")


@_perform.register
def _(step: SetPreference, performance: Performance, path: Path) -> None:
    desk = PreferenceDesk(performance.stage.log, performance.stage.clock)
    desk.choose(step.member, Subject(step.type, step.channel), enabled=step.enabled, by=BY)


@_perform.register
def _(step: CallBack, performance: Performance, path: Path) -> None:
    report(performance.stage, step)
