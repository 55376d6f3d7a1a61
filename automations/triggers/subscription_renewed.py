"""The event trigger `subscription.renewed`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("subscription.renewed")
class SubscriptionRenewed(EventTrigger):
    """A subscription was prolonged to a later last day."""

    KIND = "subscription"
    ROOTS = ("subscription", "member", "space", "event")
