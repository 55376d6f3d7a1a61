"""The event trigger `payment.received`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("payment.received")
class PaymentReceived(EventTrigger):
    """A payment arrived for an invoice.

    Part-payments are events of their own; `invoice.outstanding` says what is left.
    """

    KIND = "invoice"
    ROOTS = ("payment", "invoice", "member", "space", "booking", "subscription", "event")
