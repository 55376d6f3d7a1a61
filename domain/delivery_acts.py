"""What staff do about deliveries that failed: they are sent anew, or somebody has dealt with them otherwise.

Why lies among the personal values, as with acts on runs: people write there about people.
"""

from __future__ import annotations

from typing import Literal

from domain.events import DomainEvent


class DeliveryAct(DomainEvent):
    """Something that a person did about a delivery; `reason` is the reference of their words, of `member`."""

    by: str
    member: str = ""
    reason: str = ""


class DeliveryRequeued(DeliveryAct):
    """It is to be sent after all, with a new series of attempts; what was tried before stays told."""

    TOPIC = "delivery.requeued"


class DeliverySettled(DeliveryAct):
    """Nothing more is to come of it: somebody has told the person by hand, or it does not matter."""

    TOPIC = "delivery.settled"

    how: Literal["by_hand", "dismissed"]
