"""The event trigger `booking.checked_in`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("booking.checked_in")
class BookingCheckedIn(EventTrigger):
    """A member has arrived for a booking."""

    KIND = "booking"
    ROOTS = ("booking", "member", "resource", "space", "event")
