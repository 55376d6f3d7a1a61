"""What has happened to an entity since that makes a run pointless; each returns the reason, or None."""

from __future__ import annotations

from datetime import datetime

from automations.ports import FactSource
from domain.money import Money


def unless_erased(facts: FactSource) -> str | None:
    """Return a reason if the member was erased."""
    return "member erased" if facts.value("member.erased") is True else None


def unless_cancelled(kind: str, facts: FactSource) -> str | None:
    """Return a reason if the entity was cancelled or voided, or its member erased."""
    status = facts.value(f"{kind}.status")
    return f"{kind} {status}" if status in ("cancelled", "voided") else unless_erased(facts)


def while_confirmed(facts: FactSource) -> str | None:
    """Return a reason if a booking is not confirmed: pending, cancelled, or a no-show."""
    status = facts.value("booking.status")
    if status == "confirmed":
        return unless_erased(facts)
    return f"booking {str(status).replace('_', ' ')}" if status else "booking not confirmed"


def while_outstanding(facts: FactSource) -> str | None:
    """Return a reason if nothing of an invoice is outstanding any more."""
    gone = unless_cancelled("invoice", facts)
    if gone:
        return gone
    outstanding = facts.value("invoice.outstanding")
    if isinstance(outstanding, Money) and outstanding.amount > 0:
        return None
    paid_at = facts.value("invoice.paid_at")
    return f"invoice paid {paid_at:%H:%M:%S}" if isinstance(paid_at, datetime) else "nothing outstanding"


def while_scheduled(facts: FactSource) -> str | None:
    """Return a reason if a reminder was completed or cancelled."""
    status = facts.value("reminder.status")
    return f"reminder {status}" if status in ("completed", "cancelled") else unless_erased(facts)
