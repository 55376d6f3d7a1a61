"""The clock trigger `subscription.ended`."""

from __future__ import annotations

from automations.limits import for_hours
from automations.ports import FactSource
from automations.still_wanted import unless_cancelled
from automations.triggers import LookingBack, triggers


@triggers.register("subscription.ended")
class SubscriptionEnded(LookingBack):
    """A subscription has ended: its last day is over, some time `after`.

    Without a limit of its own a rule gives up after 30 days.
    """

    KIND = "subscription"
    ROOTS = ("subscription", "member", "space")
    LIMIT = for_hours(24 * 30)

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the subscription was cancelled."""
        return unless_cancelled("subscription", facts)
