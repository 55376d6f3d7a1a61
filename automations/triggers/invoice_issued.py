"""The event trigger `invoice.issued`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("invoice.issued")
class InvoiceIssued(EventTrigger):
    """An invoice was issued."""

    KIND = "invoice"
    ROOTS = ("invoice", "member", "space", "booking", "subscription", "event")
