"""What can happen around an attempt: it is held back, its call begins, its answer comes too late."""

from __future__ import annotations

from typing import Any

from domain.civil_time import Instant
from domain.endings import Ending
from domain.events import DomainEvent
from domain.executions import ActionDone


class ExecutionHeld(DomainEvent):
    """An attempt that had begun was not made, since the lane of its service is held; it does not count."""

    TOPIC = "execution.held"

    action: int
    attempt: int
    series: int = 1
    service: str
    reason: str
    again_at: Instant | None = None


class CallStarted(DomainEvent):
    """A call begins that must not be made twice, since its service does not know a repeated key."""

    TOPIC = "execution.call-started"

    action: int
    attempt: int
    series: int = 1
    operation: str


class LateAnswer(DomainEvent):
    """A call was answered after another worker, or somebody of staff, had taken the execution over.

    It is evidence and changes no state, so it stands in a stream of its own.
    """

    TOPIC = "execution.late-answer"

    key: str
    action: int
    attempt: int
    series: int = 1
    operation: str
    idempotency_key: str
    started_at: Instant
    arguments: dict[str, Any] = {}
    ending: Ending


def late_answers_of(key: str) -> str:
    """Return the stream of the answers that came too late for the execution with this dedupe key."""
    return f"late-{key}"


def late(key: str, done: ActionDone) -> LateAnswer:
    """Return the first answer that came too late, made of how the execution would have gone on by it."""
    alike = LateAnswer.model_fields.keys() & ActionDone.model_fields.keys() - {"stream", "version"}
    return LateAnswer(stream=late_answers_of(key), version=1, key=key, **{name: getattr(done, name) for name in alike})
