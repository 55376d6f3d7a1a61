"""What becomes of a delivery by the ending of one attempt: pure decisions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from automations.lanes import PROBE_INTERVAL
from automations.notifications.channels import schedule_of
from domain.deliveries import (
    CRASHED,
    AttemptStep,
    Delivery,
    DeliveryExpired,
    DeliveryFailed,
    DeliveryRetrying,
    DeliverySent,
    DeliveryStep,
    DeliveryUnknown,
)
from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown

REPEATS_IN_DOUBT = 1
"""How often something is sent again of which nobody knows whether it was, where its type allows it at all."""

MOST_CRASHES = 3
"""How many workers a delivery may take with it."""

VANISHED = Unknown(reason="the worker vanished during the call")
"""The ending of an attempt that nobody has seen end."""


NOT_CALLED = TryLater(reason="something about it has changed since it was checked")
"""Stands for the ending of an attempt whose call was not made after all, so that it is checked again at once."""


@dataclass(frozen=True, slots=True)
class Attempted:
    """An attempt that has ended at an instant, of what is of use until another; `jitter` is that of the next wait."""

    delivery: Delivery
    ended_at: datetime
    honours_keys: bool
    expires_at: datetime
    jitter: float = 1.0

    @property
    def repeatable(self) -> bool:
        """Say whether it may be sent again though it may have been sent."""
        delivery = self.delivery
        return self.honours_keys or (delivery.asked.repeats and delivery.doubts < REPEATS_IN_DOUBT)

    @property
    def useful_for(self) -> timedelta:
        """Return for how long the message is still of use; what is past counts as nothing."""
        return max(self.expires_at - self.ended_at, timedelta())

    def step(self, kind: type[AttemptStep], offset: int = 1, **values: Any) -> AttemptStep:
        """Return the next event of the delivery."""
        delivery = self.delivery
        return kind(
            stream=delivery.stream,
            version=delivery.version + offset,
            at=self.ended_at,
            cause=delivery.asked.cause,
            attempt=delivery.attempts,
            **values,
        )


def steps_after(attempted: Attempted, ending: Ending) -> list[DeliveryStep]:
    """Return the events that record how an attempt has ended, and what is done about it."""
    if ending is NOT_CALLED:
        return [attempted.step(DeliveryRetrying, reason=NOT_CALLED.reason, again_at=attempted.ended_at)]
    match ending:
        case Done(result=result):
            named = str(result.get("provider_message_id", ""))
            return [attempted.step(DeliverySent, provider_message_id=named)]
        case Refused(reason=reason, error_class=error_class):
            return [attempted.step(DeliveryFailed, reason=reason, error_class=error_class)]
        case Misconfigured(reason=reason):
            again = attempted.ended_at + PROBE_INTERVAL
            return [attempted.step(DeliveryRetrying, reason=reason, again_at=again, ending=ending)]
        case TryLater(reason=reason, wait=asked):
            if asked is not None and asked >= attempted.useful_for:
                return _too_late_by_then(attempted, ending)
            retrying = _retrying(attempted, ending, asked)
            return [retrying or _given_up(attempted, reason)]
        case Unknown():
            return _after_doubt(attempted, ending)


def steps_after_crash(attempted: Attempted) -> list[DeliveryStep]:
    """Return the events of an attempt whose worker vanished while the channel was being called."""
    doubt = attempted.step(DeliveryUnknown, reason=VANISHED.reason, error_class=CRASHED)
    if attempted.delivery.crashes + 1 >= MOST_CRASHES:
        reason = f"{MOST_CRASHES} workers vanished while they sent it"
        return [doubt, attempted.step(DeliveryFailed, 2, reason=reason, error_class=CRASHED)]
    if not attempted.repeatable:
        return [doubt]
    again = attempted.ended_at
    return [
        doubt,
        attempted.step(DeliveryRetrying, 2, reason=VANISHED.reason, again_at=again, ending=VANISHED),
    ]


def _too_late_by_then(attempted: Attempted, ending: TryLater) -> list[DeliveryStep]:
    """Return the end of what is of no use any more when it may be sent again."""
    asked, until = attempted.delivery.asked, attempted.expires_at.astimezone(UTC)
    retrying = attempted.step(DeliveryRetrying, reason=ending.reason, again_at=until, ending=ending)
    reason = f"it is of use until {until:%Y-%m-%d %H:%M:%S} UTC, and the service asked to wait longer"
    version = attempted.delivery.version + 2
    expired = DeliveryExpired(
        stream=retrying.stream, version=version, at=attempted.ended_at, cause=asked.cause, reason=reason
    )
    return [retrying, expired]


def _after_doubt(attempted: Attempted, ending: Unknown) -> list[DeliveryStep]:
    doubt = attempted.step(DeliveryUnknown, reason=ending.reason)
    retrying = _retrying(attempted, ending, None, offset=2) if attempted.repeatable else None
    return [doubt, retrying] if retrying is not None else [doubt]


def _retrying(attempted: Attempted, ending: Ending, asked: timedelta | None, offset: int = 1) -> AttemptStep | None:
    delivery = attempted.delivery
    again = schedule_of(delivery.asked.channel).next_attempt(
        delivery.tries,
        first=delivery.first_attempt_at or attempted.ended_at,
        now=attempted.ended_at,
        jitter=attempted.jitter,
        asked=asked,
    )
    if again is None:
        return None
    # What will be of no use by then is looked at as soon as it is.
    again = min(again, max(attempted.expires_at, attempted.ended_at))
    reason = "" if isinstance(ending, Done) else ending.reason
    return attempted.step(DeliveryRetrying, offset, reason=reason, again_at=again, ending=ending)


def _given_up(attempted: Attempted, reason: str) -> AttemptStep:
    count = attempted.delivery.attempts
    return attempted.step(DeliveryFailed, reason=f"gave up after {count} attempts: {reason}", error_class="gave_up")
