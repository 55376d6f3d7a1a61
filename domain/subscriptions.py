"""Subscriptions: a member's plan from a first day to a last one."""

from __future__ import annotations

from typing import Literal

from domain.fields import Day, Fields, Flag, PersonalText, Text
from domain.ids import Id
from domain.nouns import FactType, Noun, define


class SubscriptionFields(Fields):
    """What is told about a subscription; `ends_on` is its last day."""

    subscription_id: Id | None = None
    space_id: Id | None = None
    member_id: Id | None = None
    plan: Text | None = None
    starts_on: Day | None = None
    ends_on: Day | None = None
    auto_renew: Flag | None = None
    status: Literal["active", "cancelled"] | None = None
    reason: PersonalText | None = None


SUBSCRIPTION = define(
    Noun(
        kind="subscription",
        fields=SubscriptionFields,
        types={
            "subscription.started": FactType(
                needs=("subscription_id", "space_id", "member_id", "plan", "starts_on", "ends_on"),
                defaults={"status": "active"},
            ),
            "subscription.changed": FactType(needs=("subscription_id",)),
            "subscription.renewed": FactType(needs=("subscription_id", "ends_on"), sets={"status": "active"}),
            "subscription.cancelled": FactType(needs=("subscription_id",), sets={"status": "cancelled"}),
        },
    )
)
