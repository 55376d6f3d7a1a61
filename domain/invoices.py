"""Invoices and their payments; what of an invoice is still outstanding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from domain.events import DomainEvent
from domain.fields import Day, Fields, Flag, Personal, Text
from domain.ids import Id
from domain.money import Money
from domain.nouns import FactType, Noun, define


class InvoiceFields(Fields):
    """What is told about an invoice."""

    invoice_id: Id | None = None
    space_id: Id | None = None
    member_id: Id | None = None
    total: Money | None = None
    due_on: Day | None = None
    number: Text | None = None
    lines: Annotated[list[Any], Field(max_length=1_000), Personal()] | None = None
    booking_id: Id | None = None
    subscription_id: Id | None = None
    automatic_collection: Flag | None = None
    status: Literal["issued", "voided"] | None = None


class PaymentFields(Fields):
    """What is told about one payment of an invoice."""

    payment_id: Id | None = None
    invoice_id: Id | None = None
    amount: Money | None = None


_PAYMENT = FactType(needs=("payment_id", "invoice_id", "amount"), part="payment", fields=PaymentFields)

INVOICE = define(
    Noun(
        kind="invoice",
        fields=InvoiceFields,
        types={
            "invoice.issued": FactType(
                needs=("invoice_id", "space_id", "member_id", "total", "due_on"),
                defaults={"status": "issued"},
            ),
            "invoice.changed": FactType(needs=("invoice_id",)),
            "invoice.voided": FactType(needs=("invoice_id",), sets={"status": "voided"}),
            "payment.received": _PAYMENT,
            "payment.failed": _PAYMENT,
        },
    )
)


def outstanding(total: Money | None, payments: Iterable[Mapping[str, Any]]) -> Money | None:
    """Return what is still to pay, or None while the total is unknown.

    Payments in another currency than the total's cannot be set against it and are left out.
    """
    if total is None:
        return None
    for payment in payments:
        amount = payment["amount"]
        if payment["type"] == "payment.received" and amount.currency == total.currency:
            total = total - amount
    return total


class InvoiceNumbered(DomainEvent):
    """The next invoice number of a space is taken: the version of this stream, so that none is left out."""

    TOPIC = "invoice.numbered"

    invoice: str


def numbers_of(space_id: str) -> str:
    """Return the stream in which the invoice numbers of a space are taken."""
    return f"numbers/{space_id}"


def invoice_number(space_id: str, number: int) -> str:
    """Return a number as it stands on an invoice, such as `mitte-00042`; each space has its own series."""
    return f"{space_id}-{number:05d}"
