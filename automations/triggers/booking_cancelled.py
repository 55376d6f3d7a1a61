"""The event trigger `booking.cancelled`."""

from __future__ import annotations

from automations.ports import FactSource
from automations.still_wanted import unless_erased
from automations.triggers import EventTrigger, triggers


@triggers.register("booking.cancelled")
class BookingCancelled(EventTrigger):
    """A booking was cancelled.

    The reason, where one was given, is `event.reason`.
    """

    KIND = "booking"
    ROOTS = ("booking", "member", "resource", "space", "event")

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the member was erased since; being cancelled is what the rule is about."""
        return unless_erased(facts)
