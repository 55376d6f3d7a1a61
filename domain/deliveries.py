"""Deliveries: the journey of a notification to one address on one channel, and the states on its way.

A delivery's stream begins with what is to be sent to whom; each change of its state is one event. It moves
along `ARROWS` only, so that nothing that is over begins anew, and what was sent stays sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from domain.decisions import id_made_of
from domain.delivery_acts import DeliveryAct, DeliveryRequeued
from domain.delivery_events import (
    AttemptStep,
    DeliveryCancelled,
    DeliveryExpired,
    DeliveryFailed,
    DeliveryHeld,
    DeliveryPending,
    DeliveryRead,
    DeliveryReleased,
    DeliveryRetrying,
    DeliverySending,
    DeliverySent,
    DeliverySkipped,
    DeliveryStep,
    DeliveryUnknown,
    Lane,
    State,
)
from domain.delivery_receipts import (
    DeliveryBounced,
    DeliveryComplained,
    DeliveryDelivered,
    DeliveryNoReceipt,
    DeliveryReceipt,
)
from domain.endings import Misconfigured
from domain.events import DomainEvent
from domain.ids import entity, id_of

__all__ = [
    "ARROWS",
    "CRASHED",
    "OPEN",
    "WAITING",
    "AttemptStep",
    "Delivery",
    "DeliveryBounced",
    "DeliveryCancelled",
    "DeliveryComplained",
    "DeliveryDelivered",
    "DeliveryExpired",
    "DeliveryFailed",
    "DeliveryHeld",
    "DeliveryNoReceipt",
    "DeliveryPending",
    "DeliveryRead",
    "DeliveryReceipt",
    "DeliveryReleased",
    "DeliveryRetrying",
    "DeliverySending",
    "DeliverySent",
    "DeliverySkipped",
    "DeliveryStep",
    "DeliveryUnknown",
    "Lane",
    "State",
    "delivery_of",
    "delivery_stream",
]

_BEFORE_A_CALL: frozenset[State] = frozenset({"sending", "held", "skipped", "expired", "cancelled", "failed"})

ARROWS: Mapping[State, frozenset[State]] = {
    "pending": _BEFORE_A_CALL,
    "held": frozenset({"pending", "skipped", "expired", "cancelled"}),
    "sending": frozenset({"sent", "retrying", "failed", "unknown"}),
    "retrying": _BEFORE_A_CALL,
    "unknown": frozenset({"sent", "retrying", "failed"}),
    "sent": frozenset({"delivered", "bounced", "complained", "no_receipt"}),
    "no_receipt": frozenset({"delivered", "bounced", "complained"}),
    "delivered": frozenset({"bounced", "complained"}),
    "bounced": frozenset({"complained"}),
}
"""Where each state can lead. What is to be tried again is pending once it is due, which needs no event.

What bounced may be complained about, so that reports of a provider come to the same in any order.
"""

WAITING: frozenset[State] = frozenset({"pending", "held", "retrying"})
"""States in which a delivery stands in the queue of its channel."""

OPEN: frozenset[State] = frozenset({"failed", "unknown"})
"""States that ask for a person: only they can send a delivery anew, and nothing else ever does."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """The state of one delivery.

    `attempts` counts every call that was begun, `tries` those that count for the schedule; `doubts` how often
    the outcome was unknown, and `crashes` how often because a worker vanished.
    """

    id: str
    version: int
    asked: DeliveryPending
    at: datetime
    state: State = "pending"
    reason: str = ""
    attempts: int = 0
    tries: int = 0
    doubts: int = 0
    crashes: int = 0
    again_at: datetime | None = None
    first_attempt_at: datetime | None = None
    provider_message_id: str = ""
    message: str = ""
    read_at: datetime | None = None
    unreachable: bool = False

    @property
    def stream(self) -> str:
        """Return the stream of the delivery."""
        return self.asked.stream

    def after(self, event: DomainEvent) -> Delivery:
        """Return the state after one more event; raises ValueError where no arrow leads to it."""
        if isinstance(event, DeliveryRead):
            return replace(self, version=event.version, read_at=self.read_at or event.at)
        if isinstance(event, DeliveryAct):
            return _acted(self, event)
        if not isinstance(event, DeliveryStep):
            raise TypeError(f"{event.topic} is no step of a delivery")
        if event.STATE not in ARROWS.get(self.state, ()):
            raise ValueError(f"{self.stream} is {self.state}, and cannot become {event.STATE}")
        details = _details(self, event)
        return replace(self, version=event.version, at=event.at, state=event.STATE, reason=event.reason, **details)


def delivery_stream(notification: str, channel: str, address: str) -> str:
    """Return the stream of the one delivery of a notification on a channel to an address."""
    return entity("delivery", id_made_of("delivery", notification, channel, address))


def delivery_of(events: Iterable[DomainEvent]) -> Delivery | None:
    """Return the state that a delivery's events fold to, or None where there are none."""
    delivery: Delivery | None = None
    for event in events:
        delivery = _begun(event) if delivery is None else delivery.after(event)
    return delivery


def _begun(event: DomainEvent) -> Delivery:
    if not isinstance(event, DeliveryPending):
        raise TypeError(f"{event.stream} begins with {event.topic}, not with delivery.pending")
    return Delivery(id_of(event.stream), event.version, event, event.at)


def _acted(delivery: Delivery, event: DeliveryAct) -> Delivery:
    if delivery.state not in OPEN:
        raise ValueError(f"{delivery.stream} is {delivery.state}: there is nothing to be done about it")
    if not isinstance(event, DeliveryRequeued):
        return replace(delivery, version=event.version)
    anew = replace(delivery, version=event.version, at=event.at, state="pending", reason="")
    return replace(anew, tries=0, doubts=0, crashes=0, again_at=None, first_attempt_at=None)


def _details(delivery: Delivery, event: DeliveryStep) -> dict[str, Any]:
    """Return what else an event changes than the state."""
    match event:
        case DeliverySending():
            return {
                "attempts": event.attempt,
                "tries": delivery.tries + 1,
                "again_at": None,
                "first_attempt_at": delivery.first_attempt_at or event.at,
                "message": event.message,
            }
        case DeliverySent():
            return {"provider_message_id": event.provider_message_id}
        case DeliveryHeld():
            return {"again_at": event.until}
        case DeliveryReleased():
            return {"again_at": None}
        case DeliverySkipped():
            return {"unreachable": event.unreachable}
        case DeliveryRetrying():
            # Without an ending no call was made.
            burnt = 0 if event.ending is None or isinstance(event.ending, Misconfigured) else 1
            return {"again_at": event.again_at, "tries": delivery.tries - 1 + burnt}
        case DeliveryUnknown():
            crashed = event.error_class == CRASHED
            return {"doubts": delivery.doubts + 1, "crashes": delivery.crashes + crashed}
        case _:
            return {}


CRASHED = "worker_crash"
"""The class of attempts whose worker vanished."""
