"""The clock trigger `invoice.overdue`."""

from __future__ import annotations

from automations.limits import for_hours
from automations.ports import FactSource
from automations.still_wanted import while_outstanding
from automations.triggers import LookingBack, triggers


@triggers.register("invoice.overdue")
class InvoiceOverdue(LookingBack):
    """An invoice is overdue: its due day has ended, some time `after`.

    `after: 0 days` is the midnight that ends the due day. It looks at invoices of which something is
    outstanding. Without a limit of its own a rule gives up after 30 days.
    """

    KIND = "invoice"
    ROOTS = ("invoice", "member", "space", "booking", "subscription")
    LIMIT = for_hours(24 * 30)

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if nothing of the invoice is outstanding."""
        return while_outstanding(facts)
