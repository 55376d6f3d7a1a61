"""The event trigger `subscription.started`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("subscription.started")
class SubscriptionStarted(EventTrigger):
    """A subscription began."""

    KIND = "subscription"
    ROOTS = ("subscription", "member", "space", "event")
