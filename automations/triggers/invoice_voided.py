"""The event trigger `invoice.voided`."""

from __future__ import annotations

from automations.ports import FactSource
from automations.still_wanted import unless_erased
from automations.triggers import EventTrigger, triggers


@triggers.register("invoice.voided")
class InvoiceVoided(EventTrigger):
    """An invoice was declared void."""

    KIND = "invoice"
    ROOTS = ("invoice", "member", "space", "booking", "subscription", "event")

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the member was erased since; being voided is what the rule is about."""
        return unless_erased(facts)
