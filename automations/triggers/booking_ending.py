"""The clock trigger `booking.ending`."""

from __future__ import annotations

from automations.ports import FactSource
from automations.still_wanted import while_confirmed
from automations.triggers import LookingAhead, triggers


@triggers.register("booking.ending")
class BookingEnding(LookingAhead):
    """A booking is about to end, some time `before`.

    It looks at confirmed bookings only. Without a limit of its own a rule gives up when the booking ends.
    """

    KIND = "booking"
    ROOTS = ("booking", "member", "resource", "space")

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the booking is not confirmed."""
        return while_confirmed(facts)
