"""The event trigger `booking.changed`."""

from __future__ import annotations

from automations.triggers import EventTrigger, triggers


@triggers.register("booking.changed")
class BookingChanged(EventTrigger):
    """Something about a booking was changed.

    `event.changed` names the fields whose value is another one than before, `event.before.starts_at` and its
    like give the value before.

    `booking.door_left` is the door that the booking, or the member who had it before, needs no longer since it
    went to another room or member.
    """

    KIND = "booking"
    ROOTS = ("booking", "member", "resource", "space", "event")
