"""The event trigger `subscription.changed`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("subscription.changed")
class SubscriptionChanged(EventTrigger):
    """Something about a subscription was changed.

    `event.changed` names the fields whose value is another one than before.
    """

    KIND = "subscription"
    ROOTS = ("subscription", "member", "space", "event")
