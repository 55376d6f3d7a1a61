"""Billing: invoices with consecutive numbers, and fees that wait for one."""

from __future__ import annotations

from typing import Any

from domain.commands import ChargeFee, IssueInvoice
from domain.decisions import (
    Decided,
    Ground,
    Operation,
    as_data,
    id_made_of,
    made_by_key,
    refusal_about_member,
    refusal_of_amount,
)
from domain.endings import Refused
from domain.ids import id_of, kind_of
from domain.invoices import invoice_number, numbers_of


def issue_invoice(command: IssueInvoice, key: str, ground: Ground) -> Decided | Refused:
    """Decide on an invoice, which gets the next number of its space."""
    refused = refusal_about_member(command, ground) or refusal_of_amount(command.total, "total")
    if refused:
        return refused
    series = numbers_of(command.space_id)
    data = as_data(
        invoice_id=id_made_of("invoice", key),
        space_id=command.space_id,
        member_id=command.member_id,
        total=command.total,
        due_on=command.due_on,
        number=invoice_number(command.space_id, ground.next_number(series)),
        lines=_lines(command),
        **_origin(command.entity),
    )
    return Decided("invoice.issued", data, series)


def charge_fee(command: ChargeFee, key: str, ground: Ground) -> Decided | Refused:
    """Decide on an item for a later invoice."""
    refused = refusal_about_member(command, ground) or refusal_of_amount(command.amount, "amount")
    if refused:
        return refused
    data = as_data(
        fee_id=id_made_of("fee", key),
        member_id=command.member_id,
        amount=command.amount,
        reason=command.reason,
        entity=command.entity,
    )
    return Decided("fee.charged", data)


def _lines(command: IssueInvoice) -> list[dict[str, Any]] | None:
    return [as_data(text=command.text, amount=command.total)] if command.text else None


def _origin(entity: str) -> dict[str, str]:
    kind = kind_of(entity)
    return {f"{kind}_id": id_of(entity)} if kind in {"booking", "subscription"} else {}


OPERATIONS = (
    Operation(IssueInvoice, made_by_key("invoice"), issue_invoice, ("invoice_id", "number")),
    Operation(ChargeFee, made_by_key("fee"), charge_fee, ("fee_id",)),
)
