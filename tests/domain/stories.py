"""Events of executions for tests, numbered as they come."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from domain.endings import Done, Ending
from domain.events import DomainEvent
from domain.execution_folding import execution_of
from domain.executions import (
    ActionDone,
    AttemptStarted,
    Execution,
    ExecutionEnded,
    ExecutionRearmed,
    ExecutionStarted,
    idempotency_key,
    stream_of,
)
from domain.staff_acts import StaffAct

AT = datetime(2026, 5, 12, 10, 0, tzinfo=UTC)
KEY = "k" * 64

Step = Callable[[int], DomainEvent]
"""Makes the event at one version; minutes pass between the events."""


def story(*steps: Step) -> list[DomainEvent]:
    """Return the events of an execution."""
    return [step(version) for version, step in enumerate(steps, 1)]


def execution(*steps: Step) -> Execution:
    """Return the state after a story."""
    found = execution_of(story(*steps))
    assert found is not None
    return found


def _place(version: int) -> dict[str, Any]:
    return {"stream": stream_of(KEY), "version": version, "at": AT + timedelta(minutes=version - 1)}


def started(**content: Any) -> Step:
    told = {
        "rule": "r",
        "trigger": "booking.created",
        "entity": "booking/b1",
        "occasion": "2026-05-12",
        "rule_version": 1,
        "event_date": date(2026, 5, 12),
        "actions": ("create_task", "notify"),
        **content,
    }
    return lambda version: ExecutionStarted(**_place(version), **told)


def rearmed(**content: Any) -> Step:
    told = {"rule_version": 2, "event_date": date(2026, 5, 12), **content}
    return lambda version: ExecutionRearmed(**_place(version), **told)


def attempt(number: int, action: int = 0, series: int = 1) -> Step:
    return lambda version: AttemptStarted(**_place(version), action=action, attempt=number, series=series)


def acted(ending: Ending | None = None, *, action: int = 0, number: int = 1, **content: Any) -> Step:
    told = {
        "action": action,
        "attempt": number,
        "operation": "tasks.create",
        "idempotency_key": idempotency_key(KEY, action),
        "started_at": AT,
        "ending": ending or Done(),
        **content,
    }
    return lambda version: ActionDone(**_place(version), **told)


def ended(status: str, reason: str = "", **content: Any) -> Step:
    told = {"status": status, "reason": reason, **content}
    return lambda version: ExecutionEnded.model_validate({**_place(version), **told})


def did(kind: type[StaffAct], **content: Any) -> Step:
    return lambda version: kind.model_validate({**_place(version), "by": "ana", **content})
