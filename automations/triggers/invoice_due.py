"""The clock trigger `invoice.due`."""

from __future__ import annotations

from automations.ports import FactSource
from automations.still_wanted import while_outstanding
from automations.triggers import LookingAhead, triggers


@triggers.register("invoice.due")
class InvoiceDue(LookingAhead):
    """An invoice will be due, some time `before`.

    It looks at invoices of which something is outstanding. The due day stands for its first instant here;
    without a limit of its own a rule gives up when the due day has ended.
    """

    KIND = "invoice"
    ROOTS = ("invoice", "member", "space", "booking", "subscription")

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if nothing of the invoice is outstanding."""
        return while_outstanding(facts)
