"""The event trigger `subscription.cancelled`."""

from __future__ import annotations

from automations.ports import FactSource
from automations.still_wanted import unless_erased
from automations.triggers import EventTrigger, triggers


@triggers.register("subscription.cancelled")
class SubscriptionCancelled(EventTrigger):
    """A subscription was cancelled."""

    KIND = "subscription"
    ROOTS = ("subscription", "member", "space", "event")

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the member was erased since; being cancelled is what the rule is about."""
        return unless_erased(facts)
