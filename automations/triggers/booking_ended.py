"""The clock trigger `booking.ended`."""

from __future__ import annotations

from automations.limits import for_hours
from automations.ports import FactSource
from automations.still_wanted import while_confirmed
from automations.triggers import LookingBack, triggers


@triggers.register("booking.ended")
class BookingEnded(LookingBack):
    """A booking has ended, some time `after`.

    The actual check-out counts where there was one. Without a limit of its own a rule gives up after a day.
    """

    KIND = "booking"
    ROOTS = ("booking", "member", "resource", "space")
    LIMIT = for_hours(24)

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the booking is not confirmed."""
        return while_confirmed(facts)
