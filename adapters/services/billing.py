"""The embedded billing service: `billing.issue_invoice` and `billing.charge_fee`."""

from __future__ import annotations

from adapters.services.deciding import DecidingService, Desk
from automations.ports import Call
from domain.decisions import Decided, billing
from domain.events import DomainEvent
from domain.ids import id_of
from domain.invoices import InvoiceNumbered


class Billing(DecidingService):
    """Issues invoices, numbered without gaps in each space, and charges fees."""

    name = "billing"
    operations = billing.OPERATIONS

    def _beside(self, desk: Desk, decided: Decided, stream: str, call: Call) -> list[DomainEvent]:
        if not decided.series:
            return []
        number = desk.next_number(decided.series)
        return [
            InvoiceNumbered(stream=decided.series, version=number, at=call.at, cause=call.cause, invoice=id_of(stream))
        ]
