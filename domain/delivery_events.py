"""What happens to deliveries: each change of the state of one is one event."""

from __future__ import annotations

from typing import ClassVar, Literal

from domain.civil_time import Instant
from domain.endings import Ending
from domain.events import DomainEvent
from domain.spaces import QuietHours

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


class DeliveryPending(DomainEvent):
    """A delivery begins: somebody is to get a notification on a channel.

    `to` is `member/m1`, or `staff` where nobody is known to be; with `to_staff` it is one of staff who is told,
    whoever that is. `address` is whose address is meant, never the
    address itself, so that a corrected one is used. `payload` is the reference of the notification's values
    among those of `about`. With `repeats` it is sent again where nobody knows whether it was.

    From `expires_at` on it is of no use; `useful_until` is the fact that says so, where one does. With `opt_in`
    it goes only to who asked for it. `then` are the channels to go on with where this one does not work.

    `template` is the version of the wording in the language `locale`, chosen when the delivery began; it is empty
    where there was none. `devices` are those of the recipient that pushes went to when the notification began, each
    of which is an address of its own.
    """

    TOPIC = "delivery.pending"

    notification: str
    producer: str
    type: str
    to: str
    to_staff: bool = False
    channel: str
    address: str
    entity: str = ""
    about: str = ""
    payload: str = ""
    lane: Lane = "transactional"
    urgent: bool = False
    mandatory: bool = False
    repeats: bool = False
    opt_in: bool = False
    then: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    requested_at: Instant
    expires_at: Instant
    useful_until: str = ""
    locale: str = ""
    template: str = ""


class DeliveryStep(DomainEvent):
    """A change of a delivery's state, and why."""

    STATE: ClassVar[State]

    reason: str = ""


class AttemptStep(DeliveryStep):
    """A change that one attempt made; attempts are counted from 1."""

    attempt: int


class DeliverySending(AttemptStep):
    """An attempt begins; recorded before the channel is called.

    `message` is the reference of what is sent, subject and text, among the personal values of `member`;
    `override` says what lets it go out in spite of quiet hours.
    """

    TOPIC = "delivery.sending"
    STATE = "sending"

    message: str = ""
    member: str = ""
    override: Literal["", "urgent"] = ""


class DeliverySent(AttemptStep):
    """The channel has taken the message; `provider_message_id` is how it will name it later."""

    TOPIC = "delivery.sent"
    STATE = "sent"

    provider_message_id: str = ""


class DeliveryRetrying(AttemptStep):
    """The attempt came to nothing, and there will be another one; without an `ending` its call was not made."""

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
    """It was not to be sent to this person on this channel; `unreachable` if it could not be, whoever wants it."""

    TOPIC = "delivery.skipped"
    STATE = "skipped"

    unreachable: bool = False


class DeliveryHeld(DeliveryStep):
    """It waits for the end of quiet hours.

    `hours` are those that were looked at, of the recipient or of the space, on the clocks of `zone`, which is that
    of the recipient, of the space, or the operator's. They are over at `quiet_until`; it goes on at `until`, which
    may be some minutes later.
    """

    TOPIC = "delivery.held"
    STATE = "held"

    until: Instant
    quiet_until: Instant
    hours: QuietHours
    hours_of: Literal["recipient", "space"]
    zone: str
    zone_of: Literal["recipient", "space", "operator"]


class DeliveryReleased(DeliveryStep):
    """Quiet hours do not keep it any more."""

    TOPIC = "delivery.released"
    STATE = "pending"


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
