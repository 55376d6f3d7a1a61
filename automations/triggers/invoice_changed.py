"""The event trigger `invoice.changed`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("invoice.changed")
class InvoiceChanged(EventTrigger):
    """Something about an invoice was changed.

    `event.changed` names the fields whose value is another one than before.
    """

    KIND = "invoice"
    ROOTS = ("invoice", "member", "space", "booking", "subscription", "event")
