"""The clock trigger `subscription.expiring`."""

from __future__ import annotations

from automations.ports import FactSource
from automations.still_wanted import unless_cancelled
from automations.triggers import LookingAhead, triggers


@triggers.register("subscription.expiring")
class SubscriptionExpiring(LookingAhead):
    """A subscription will expire, some time `before` its last day.

    Without a limit of its own a rule gives up when the last day has ended.
    """

    KIND = "subscription"
    ROOTS = ("subscription", "member", "space")

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the subscription was cancelled."""
        return unless_cancelled("subscription", facts)
