"""The event trigger `booking.checked_out`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("booking.checked_out")
class BookingCheckedOut(EventTrigger):
    """A member has left, at the end of a booking or earlier."""

    KIND = "booking"
    ROOTS = ("booking", "member", "resource", "space", "event")
