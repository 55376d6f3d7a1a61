"""The event trigger `booking.changed`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("booking.changed")
class BookingChanged(EventTrigger):
    """Something about a booking was changed.

    `event.changed` names the fields whose value is another one than before, `event.before.starts_at` and its
    like give the value before.
    """

    KIND = "booking"
    ROOTS = ("booking", "member", "resource", "space", "event")
