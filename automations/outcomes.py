"""What becomes of an execution by the ending of one call: pure decisions (semantics 4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from automations.lanes import PROBE_INTERVAL, asked_rest
from automations.retries import RetrySchedule
from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown
from domain.executions import Execution, Status
from domain.rules import Step


@dataclass(frozen=True, slots=True)
class Outcome:
    """The execution's status after a call, why, and when it is tried again if it waits.

    What a held lane let through only to see whether its service answers is not `counted` as an attempt.
    """

    status: Status
    reason: str = ""
    again_at: datetime | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Attempted:
    """One attempt that ended: which step of how many it was, whether its lane was held, and when it ended."""

    execution: Execution
    step: Step
    is_last: bool
    honours_keys: bool
    ended_at: datetime
    is_probe: bool = False

    @property
    def first_at(self) -> datetime:
        """Return when the action's first attempt began."""
        return self.execution.first_attempt_at or self.execution.occurrence.at


def outcome_of(attempted: Attempted, ending: Ending, retries: RetrySchedule, jitter: float) -> Outcome:
    """Return what the ending of an attempt means for its execution."""
    match ending:
        case Done():
            return _after_success(attempted)
        case Refused(reason=reason):
            return _after_failure(attempted, "failed", reason)
        case Misconfigured(reason=reason):
            return Outcome("waiting", reason, attempted.ended_at + PROBE_INTERVAL, counted=False)
        case Unknown(reason=reason) if not attempted.honours_keys:
            return _after_failure(attempted, "unknown", reason)
        case TryLater() | Unknown() if attempted.is_probe:
            again_at = attempted.ended_at + max(PROBE_INTERVAL, asked_rest(ending))
            return Outcome("waiting", ending.reason, again_at, counted=False)
        case TryLater(reason=reason, wait=asked):
            exhausted: Status = "unknown" if attempted.execution.doubtful else "failed"
            return _later(attempted, exhausted, reason, retries, jitter, asked)
        case Unknown(reason=reason):
            return _later(attempted, "unknown", reason, retries, jitter, None)


def _after_success(attempted: Attempted) -> Outcome:
    if not attempted.is_last:
        return Outcome("running")
    failed = [number for number in attempted.execution.failed if number != attempted.execution.action]
    if not failed:
        return Outcome("done")
    return Outcome("failed", f"action {', '.join(str(number + 1) for number in failed)} failed")


def _after_failure(attempted: Attempted, status: Status, reason: str) -> Outcome:
    goes_on = attempted.step.on_failure == "go_on" and not attempted.is_last
    return Outcome("running", reason) if goes_on else Outcome(status, reason)


def _later(
    attempted: Attempted,
    exhausted: Status,
    reason: str,
    retries: RetrySchedule,
    jitter: float,
    asked: timedelta | None,
) -> Outcome:
    again = retries.next_attempt(
        attempted.execution.tries,
        first=attempted.first_at,
        now=attempted.ended_at,
        jitter=jitter,
        asked=asked,
    )
    if again is not None:
        return Outcome("waiting", reason, again)
    return _after_failure(attempted, exhausted, f"gave up after {attempted.execution.attempt} attempts: {reason}")
