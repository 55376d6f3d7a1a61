"""What staff may do about a delivery that failed, and why not: pure decisions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from automations.staff_acts import Order
from domain.deliveries import OPEN, WAITING, Delivery
from domain.delivery_acts import DeliveryAct, DeliveryRequeued, DeliverySettled


def refusal_of_delivery(order: Order, delivery: Delivery, at: datetime) -> str | None:
    """Return why an act is not done to a delivery as it is now, or None if it may be."""
    if delivery.state == "sending":
        return "it is being sent right now: look again in a moment"
    if order.act == "run-again":
        return "a delivery goes out once: ask for another notification"
    if order.act == "retry" and delivery.state in WAITING:
        return None
    if delivery.state not in OPEN:
        told = f" ({delivery.reason})" if delivery.reason else ""
        return f"it did not fail: it is {delivery.state}{told}"
    if order.act == "retry" and at >= delivery.asked.expires_at:
        return f"it was of use until {delivery.asked.expires_at:%Y-%m-%d %H:%M} UTC: dismiss it"
    return None


def decided_about_delivery(order: Order, delivery: Delivery, at: datetime, reason: str) -> DeliveryAct | None:
    """Return the event of an act, None where the delivery needs only to be looked at now.

    `reason` is the reference of its words among the values of whom the delivery is about.
    """
    if delivery.state in WAITING:
        return None
    common: dict[str, Any] = {
        "stream": delivery.stream,
        "version": delivery.version + 1,
        "at": at,
        "cause": delivery.asked.cause,
        "by": order.by,
        "member": delivery.asked.about if reason else "",
        "reason": reason,
    }
    if order.act == "retry":
        return DeliveryRequeued(**common)
    return DeliverySettled(**common, how="by_hand" if order.act == "done" else "dismissed")
