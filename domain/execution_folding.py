"""The state of an execution from its events, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from domain.attempts import CallStarted, ExecutionHeld
from domain.contradictions import ExecutionBorneOut, ExecutionContradicted
from domain.endings import Done, is_answer, may_have_acted
from domain.events import DomainEvent
from domain.executions import (
    ActionDone,
    AttemptStarted,
    Execution,
    ExecutionEnded,
    ExecutionRearmed,
    ExecutionStarted,
    key_of,
)
from domain.staff_acts import (
    UNJUDGED,
    ExecutionDismissed,
    ExecutionMarkedDone,
    ExecutionRetried,
    ExecutionRunAgain,
    StaffAct,
)


def execution_of(events: Iterable[DomainEvent]) -> Execution | None:
    """Return the state that an execution's events fold to, or None where there are none."""
    execution: Execution | None = None
    for event in events:
        execution = _started(event) if execution is None else after(execution, event)
    return execution


def after(execution: Execution, event: DomainEvent) -> Execution:
    """Return the state after one more event of the execution's stream."""
    execution = replace(execution, version=event.version, at=event.at)
    match event:
        case ActionDone():
            return _after_action(execution, event)
        case AttemptStarted():
            return _after_start(execution, event)
        case CallStarted():
            return replace(execution, calling=True)
        case ExecutionHeld():
            return _held(execution, event)
        case ExecutionEnded():
            return replace(execution, status=event.status, reason=event.reason, failure=event.ending, again_at=None)
        case ExecutionRearmed():
            return _rearmed(execution, event)
        case StaffAct():
            return _acted_on(execution, event)
        case ExecutionContradicted():
            return replace(execution, contradicted=True, dismissed=False)
        case ExecutionBorneOut():
            return replace(execution, contradicted=False)
        case _:
            return execution


def _acted_on(execution: Execution, act: StaffAct) -> Execution:
    match act:
        case ExecutionRetried():
            return _retried(execution, act)
        case ExecutionRunAgain():
            return _run_again(execution, act)
        case ExecutionMarkedDone():
            reason = f"done by hand by {act.by}"
            return replace(execution, status="done", reason=reason, again_at=None, dismissed=False)
        case ExecutionDismissed():
            return replace(execution, status=act.status, reason=act.told, again_at=None, dismissed=True)
        case _:
            return execution


def _started(event: DomainEvent) -> Execution:
    if not isinstance(event, ExecutionStarted):
        raise ValueError(f"{event.stream} begins with {event.topic}, not with execution.started")
    return Execution(
        key_of(event.stream),
        event.version,
        claim=event,
        occurrence=event,
        at=event.at,
        first_attempt_at=event.at,
        todo=_every(event.actions),
    )


def _rearmed(execution: Execution, event: ExecutionRearmed) -> Execution:
    return replace(
        execution,
        occurrence=event,
        status="running",
        reason="",
        action=0,
        todo=_every(event.actions),
        attempt=1,
        again_at=None,
        first_attempt_at=event.at,
        doubtful=False,
        probing=False,
        waited=False,
        calling=False,
        lost=0,
        failed=(),
        attempted={},
        before=0,
        checks="all",
        failure="",
    )


def _every(actions: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(range(len(actions)))


def _after_start(execution: Execution, event: AttemptStarted) -> Execution:
    is_first = event.attempt == execution.before + 1
    # Nobody knows what the attempt before has done, if it was running and left no ending.
    is_lost = execution.status == "running"
    return replace(
        execution,
        status="running",
        touched=execution.touched or is_lost,
        doubtful=execution.doubtful or is_lost,
        probing=False,
        waited=not is_lost,
        calling=False,
        lost=execution.lost + 1 if is_lost else 0,
        action=event.action,
        attempt=event.attempt,
        series=event.series,
        again_at=None,
        first_attempt_at=event.at if is_first else execution.first_attempt_at,
    )


def _held(execution: Execution, event: ExecutionHeld) -> Execution:
    return replace(execution, status="waiting", reason=event.reason, again_at=event.again_at, probing=True, lost=0)


def _after_action(execution: Execution, event: ActionDone) -> Execution:
    is_unknown = event.ending.kind == "unknown" and event.status != "running"
    execution = replace(
        execution,
        status=event.status,
        reason=event.reason,
        again_at=event.again_at,
        attempt=event.attempt,
        series=event.series,
        touched=execution.touched or may_have_acted(event.ending),
        doubtful=event.ending.kind == "unknown" or (execution.doubtful and not is_answer(event.ending)),
        sent=event if is_unknown else execution.sent,
        probing=not event.counted or event.ending.kind == "misconfigured",
        waited=False,
        calling=False,
        lost=0,
        failure="",
    )
    return execution if event.status == "waiting" else _over(execution, event)


def _over(execution: Execution, event: ActionDone) -> Execution:
    """Take the action off the list, and go to the next one where the execution goes on."""
    done = isinstance(event.ending, Done)
    others = tuple(number for number in execution.failed if number != event.action)
    execution = replace(
        execution,
        todo=execution.todo[1:],
        failed=others if done else (*others, event.action),
        attempted=execution.attempted if done else {**execution.attempted, event.action: event.attempt},
    )
    if event.status != "running":
        return execution
    action = execution.todo[0]
    before = execution.attempted.get(action, 0)
    execution = replace(execution, action=action, attempt=before + 1, before=before, first_attempt_at=event.at)
    return replace(execution, doubtful=False)


def _retried(execution: Execution, event: ExecutionRetried) -> Execution:
    """Return to the first action that did not succeed; its attempts count on, its schedule begins anew."""
    unjudged = execution.failure in UNJUDGED
    if execution.status != "waiting":
        todo = tuple(sorted({*execution.failed, *execution.todo}))
        attempt = execution.attempts_at(todo[0]) - (1 if unjudged else 0)
        execution = replace(execution, action=todo[0], todo=todo, attempt=attempt, probing=False)
    return replace(
        execution,
        status="waiting",
        reason=f"retried by {event.by}",
        again_at=event.at,
        before=execution.next_attempt - 1,
        checks="conditions" if unjudged else "wanted",
        dismissed=False,
    )


def _run_again(execution: Execution, event: ExecutionRunAgain) -> Execution:
    todo = _every(execution.occurrence.actions) if event.action is None else (event.action,)
    return replace(
        execution,
        status="waiting",
        reason=f"run again by {event.by}",
        again_at=event.at,
        action=todo[0],
        todo=todo,
        attempt=0,
        before=0,
        attempted={},
        series=event.series,
        failed=(),
        sent=None,
        doubtful=False,
        probing=False,
        checks="wanted",
        dismissed=False,
    )
