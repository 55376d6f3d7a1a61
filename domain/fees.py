"""Fees: items for a later invoice, never an invoice of their own."""

from __future__ import annotations

from domain.fields import Fields, PersonalText, Text
from domain.ids import Id
from domain.money import Money
from domain.nouns import FactType, Noun, define


class FeeFields(Fields):
    """What is told about a fee."""

    fee_id: Id | None = None
    member_id: Id | None = None
    amount: Money | None = None
    reason: PersonalText | None = None
    entity: Text | None = None


FEE = define(
    Noun(
        kind="fee",
        fields=FeeFields,
        types={"fee.charged": FactType(needs=("fee_id", "member_id", "amount"))},
    )
)
