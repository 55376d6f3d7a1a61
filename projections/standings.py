"""Where a run stands after one of its events: among the failures of a cause, waiting for it, or settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from domain.attempts import ExecutionHeld
from domain.contradictions import CONTRADICTED, ExecutionBorneOut, ExecutionContradicted
from domain.dossiers import FailureCause, cause_of_call, cause_of_end, cause_of_lane, cause_of_wait, service_of
from domain.endings import Done
from domain.events import DomainEvent
from domain.executions import ActionDone, AttemptStarted, ExecutionEnded
from domain.staff_acts import ExecutionDismissed, ExecutionMarkedDone, ExecutionRetried, ExecutionRunAgain

Standing = Literal["open", "waiting", "done", "by_hand", "no_longer_needed", "dismissed"]
"""As a failure, as one that waits for a retry, or how it was settled."""

SETTLED: tuple[Standing, ...] = ("done", "by_hand", "no_longer_needed", "dismissed")
"""How a run can leave what is open."""

STANDINGS: tuple[Standing, ...] = ("open", "waiting", *SETTLED)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands, in the dossier of a cause; `status` and `reason` are what is said about the run."""

    cause: FailureCause
    standing: Standing
    status: str
    reason: str


def place_of(row: Mapping[str, Any]) -> Place:
    """Return the place that a row of the failures tells."""
    cause = FailureCause(row["operation"], row["ending"], row["cause_rule"])
    return Place(cause, row["standing"], row["status"], row["reason"])


def is_failing(event: DomainEvent) -> bool:
    """Say whether an event may put a run among the failures, or make it wait."""
    match event:
        case ActionDone():
            return not isinstance(event.ending, Done)
        case ExecutionEnded():
            return event.status in ("failed", "unknown")
        case _:
            return isinstance(event, ExecutionHeld | ExecutionContradicted)


def moved(before: Place | None, event: DomainEvent, rule: str, held: Mapping[str, FailureCause]) -> Place | None:
    """Return where a run of a rule stands after one more event, or None where the event changes nothing.

    `held` says for which cause a service is held: whatever waits for that service waits for it.
    """
    match event:
        case ActionDone() if event.status != "waiting" and not isinstance(event.ending, Done):
            return Place(cause_of_call(event.operation, event.ending, rule), "open", event.status, event.reason)
        case ActionDone(status="waiting") if before is None or before.standing != "open":
            cause = held.get(service_of(event.operation)) or cause_of_wait(event)
            return Place(cause, "waiting", event.status, event.reason)
        case ExecutionHeld() if before is None or before.standing != "open":
            return Place(held.get(event.service) or cause_of_lane(event.service), "waiting", "waiting", event.reason)
        case ExecutionEnded(status="failed" | "unknown"):
            return Place(cause_of_end(event, rule), "open", event.status, event.reason)
        case ExecutionContradicted():
            return Place(FailureCause(event.operation, CONTRADICTED, rule), "open", "done", event.reason)
    if before is None or before.standing in SETTLED:
        return None
    return _settled(before, event) or _still(before, event)


def _settled(before: Place, event: DomainEvent) -> Place | None:
    match event:
        case ActionDone(status="done"):
            return Place(before.cause, "done", event.status, event.reason)
        case ActionDone(status="running") if before.standing == "waiting":
            return Place(before.cause, "done", event.status, event.reason)
        case ExecutionEnded():
            return Place(before.cause, "no_longer_needed", event.status, event.reason)
        case ExecutionBorneOut():
            return Place(before.cause, "no_longer_needed", "done", event.reason)
        case ExecutionMarkedDone():
            return Place(before.cause, "by_hand", "done", f"done by hand by {event.by}")
        case ExecutionDismissed():
            return Place(before.cause, "dismissed", event.status, event.told)
        case _:
            return None


def _still(before: Place, event: DomainEvent) -> Place | None:
    """Return the same place with what is said about the run now; what failed last stays said until it is over."""
    match event:
        case AttemptStarted():
            return Place(before.cause, before.standing, "running", before.reason)
        case ActionDone():
            return Place(before.cause, before.standing, event.status, event.reason or before.reason)
        case ExecutionRetried() | ExecutionRunAgain() | ExecutionHeld():
            return Place(before.cause, before.standing, "waiting", before.reason)
        case _:
            return None
