"""The event trigger `payment.failed`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("payment.failed")
class PaymentFailed(EventTrigger):
    """A payment of an invoice could not be collected."""

    KIND = "invoice"
    ROOTS = ("payment", "invoice", "member", "space", "booking", "subscription", "event")
