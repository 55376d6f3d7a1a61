"""Deliveries: the journey of a notification to one address on one channel, and the states on its way.

A delivery's stream begins with what is to be sent to whom; each change of its state is one event. It moves
along `ARROWS` only, so that nothing that is over begins anew, and what was sent stays sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Literal

from domain.civil_time import Instant
from domain.decisions import id_made_of
from domain.endings import Ending, Misconfigured
from domain.events import DomainEvent
from domain.ids import entity, id_of

State = Literal[
    "pending",
    "held",
    "sending",
    "retrying",
    "sent",
    "unknown",
    "delivered",
    "bounced",
    "complained",
    "no_receipt",
    "failed",
    "skipped",
    "expired",
    "cancelled",
]
Lane = Literal["transactional", "bulk"]

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
}
"""Where each state can lead. What is to be tried again is pending once it is due, which needs no event."""

WAITING: frozenset[State] = frozenset({"pending", "held", "retrying"})
"""States in which a delivery stands in the queue of its channel."""


class DeliveryPending(DomainEvent):
    """A delivery begins: somebody is to get a notification on a channel.

    `to` is `member/m1`, or `staff` where nobody is known to be; `address` is whose address is meant, never the
    address itself, so that a corrected one is used. `payload` is the reference of the notification's values
    among those of `about`. From `expires_at` on it is of no use. With `repeats` it is sent again where nobody
    knows whether it was.
    """

    TOPIC = "delivery.pending"

    notification: str
    producer: str
    type: str
    to: str
    channel: str
    address: str
    entity: str = ""
    about: str = ""
    payload: str = ""
    lane: Lane = "transactional"
    urgent: bool = False
    mandatory: bool = False
    repeats: bool = False
    requested_at: Instant
    expires_at: Instant


class DeliveryStep(DomainEvent):
    """A change of a delivery's state, and why."""

    STATE: ClassVar[State]

    reason: str = ""


class AttemptStep(DeliveryStep):
    """A change that one attempt made; attempts are counted from 1."""

    attempt: int


class DeliverySending(AttemptStep):
    """An attempt begins; recorded before the channel is called.

    `message` is the reference of what is sent, subject and text, among the personal values of `member`.
    """

    TOPIC = "delivery.sending"
    STATE = "sending"

    message: str = ""
    member: str = ""


class DeliverySent(AttemptStep):
    """The channel has taken the message; `provider_message_id` is how it will name it later."""

    TOPIC = "delivery.sent"
    STATE = "sent"

    provider_message_id: str = ""


class DeliveryRetrying(AttemptStep):
    """The attempt came to nothing, and there will be another one."""

    TOPIC = "delivery.retrying"
    STATE = "retrying"

    again_at: Instant
    ending: Ending | None = None


class DeliveryUnknown(AttemptStep):
    """Nobody knows whether the channel has taken the message; `error_class` says how that came."""

    TOPIC = "delivery.unknown"
    STATE = "unknown"

    error_class: str = "unknown"


class DeliveryFailed(AttemptStep):
    """Nothing more is tried; `error_class` groups failures of one cause."""

    TOPIC = "delivery.failed"
    STATE = "failed"

    error_class: str


class DeliverySkipped(DeliveryStep):
    """It was not to be sent to this person on this channel."""

    TOPIC = "delivery.skipped"
    STATE = "skipped"


class DeliveryExpired(DeliveryStep):
    """It came too late to be of use."""

    TOPIC = "delivery.expired"
    STATE = "expired"


class DeliveryCancelled(DeliveryStep):
    """What it was about does not stand any more."""

    TOPIC = "delivery.cancelled"
    STATE = "cancelled"


class DeliveryRead(DomainEvent):
    """The member has seen a message in their inbox; its state stays sent."""

    TOPIC = "delivery.read"


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

    @property
    def stream(self) -> str:
        """Return the stream of the delivery."""
        return self.asked.stream

    def after(self, event: DomainEvent) -> Delivery:
        """Return the state after one more event; raises ValueError where no arrow leads to it."""
        if isinstance(event, DeliveryRead):
            return replace(self, version=event.version, read_at=self.read_at or event.at)
        if not isinstance(event, DeliveryStep):
            raise TypeError(f"{event.topic} is no step of a delivery")
        if event.STATE not in ARROWS.get(self.state, ()):
            raise ValueError(f"{self.stream} is {self.state}, and cannot become {event.STATE}")
        moved = replace(self, version=event.version, at=event.at, state=event.STATE, reason=event.reason)
        return _with_details(moved, event)


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


def _with_details(delivery: Delivery, event: DeliveryStep) -> Delivery:
    match event:
        case DeliverySending():
            return replace(
                delivery,
                attempts=event.attempt,
                tries=delivery.tries + 1,
                again_at=None,
                first_attempt_at=delivery.first_attempt_at or event.at,
                message=event.message,
            )
        case DeliverySent():
            return replace(delivery, provider_message_id=event.provider_message_id)
        case DeliveryRetrying():
            burnt = 0 if isinstance(event.ending, Misconfigured) else 1
            return replace(delivery, again_at=event.again_at, tries=delivery.tries - 1 + burnt)
        case DeliveryUnknown():
            crashed = event.error_class == CRASHED
            return replace(delivery, doubts=delivery.doubts + 1, crashes=delivery.crashes + crashed)
        case _:
            return delivery


CRASHED = "worker_crash"
"""The class of attempts whose worker vanished."""
