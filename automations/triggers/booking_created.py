"""The event trigger `booking.created`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("booking.created")
class BookingCreated(EventTrigger):
    """A booking was made.

    A series makes one event for each of its bookings: `booking.first_in_series is yes` picks the first.
    """

    KIND = "booking"
    ROOTS = ("booking", "member", "resource", "space", "event")
