"""What providers report about messages that they took: each report that changes a delivery's state is one event."""

from __future__ import annotations

from typing import Literal

from domain.delivery_events import DeliveryStep, State

Bounce = Literal["hard", "soft"]
"""Whether a message came back because of its address, or for a reason that may pass."""


class DeliveryReceipt(DeliveryStep):
    """A change that a provider reported; `source` names its report: `twilio/5f0c…`.

    `told_at` is the time that the report gives, as it was written there. With `zone_assumed` it came without a zone,
    so that nothing may be ordered by it.
    """

    source: str = ""
    told_at: str = ""
    zone_assumed: bool = False


class DeliveryDelivered(DeliveryReceipt):
    """The message has reached its address."""

    TOPIC = "delivery.delivered"
    STATE = "delivered"


class DeliveryBounced(DeliveryReceipt):
    """The message did not reach its address; `detail` is a class or a code such as `5.1.1`, never a text."""

    TOPIC = "delivery.bounced"
    STATE = "bounced"

    bounce: Bounce = "soft"
    detail: str = ""


class DeliveryComplained(DeliveryReceipt):
    """Whoever got the message called it unwanted."""

    TOPIC = "delivery.complained"
    STATE = "complained"


class DeliveryNoReceipt(DeliveryStep):
    """Nobody reported anything about the message in all the time in which reports come."""

    TOPIC = "delivery.no-receipt"
    STATE = "no_receipt"


REPORTED: tuple[State, ...] = ("no_receipt", "delivered", "bounced", "complained")
"""What can become of a message that was sent; a later one in this list stands over those before it."""
