"""The event trigger `booking.no_show`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("booking.no_show")
class BookingNoShow(EventTrigger):
    """Nobody came to a booking.

    A state that flaps makes several events: give `once: entity` for what must not be multiplied, like a fee.
    """

    KIND = "booking"
    ROOTS = ("booking", "member", "resource", "space", "event")
