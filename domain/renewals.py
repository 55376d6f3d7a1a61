"""Renewals: an offer to a member to go on with a subscription."""

from __future__ import annotations

from domain.fields import Fields, PersonalText, Text
from domain.ids import Id
from domain.nouns import FactType, Noun, define


class RenewalFields(Fields):
    """What is told about an offer."""

    renewal_id: Id | None = None
    subscription_id: Id | None = None
    member_id: Id | None = None
    plan: Text | None = None
    text: PersonalText | None = None


RENEWAL = define(
    Noun(
        kind="renewal",
        fields=RenewalFields,
        types={"renewal.offered": FactType(needs=("renewal_id", "subscription_id", "member_id"))},
    )
)
