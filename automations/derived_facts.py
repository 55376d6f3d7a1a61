"""Facts that are computed from others: `booking.duration`, `invoice.outstanding` and their like.

Each is a function of the situation and the entity, named by kind and field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from domain.facts import Entity
from domain.ids import entity, id_of
from domain.invoices import outstanding
from domain.money import Money
from domain.spaces import WEEKDAYS

if TYPE_CHECKING:
    from automations.situation import Situation


def _start(situation: Situation, booking: Entity) -> datetime | None:
    start = situation.value("booking.starts_at")
    return start if isinstance(start, datetime) else None


def _end(situation: Situation, booking: Entity) -> datetime | None:
    end = situation.value("booking.ends_at")
    return end if isinstance(end, datetime) else None


def _duration(situation: Situation, booking: Entity) -> timedelta | None:
    start, end = _start(situation, booking), _end(situation, booking)
    # Both are in one zone, where subtraction would count wall time; instants count what elapses.
    return None if start is None or end is None else timedelta(seconds=end.timestamp() - start.timestamp())


def _weekday(situation: Situation, booking: Entity) -> str | None:
    start = _start(situation, booking)
    return None if start is None else WEEKDAYS[start.weekday()]


def _date(situation: Situation, booking: Entity) -> date | None:
    start = _start(situation, booking)
    return None if start is None else start.date()


def _start_time(situation: Situation, booking: Entity) -> time | None:
    start = _start(situation, booking)
    return None if start is None else start.time()


def _end_time(situation: Situation, booking: Entity) -> time | None:
    end = _end(situation, booking)
    return None if end is None else end.time()


def _door_left(situation: Situation, booking: Entity) -> str | None:
    """Return the door that somebody may open no longer, since the event took the booking or its member elsewhere.

    Where the same member still needs the same door, as after a move back, there is none.
    """
    before = situation.before()
    resource_id = before.get("resource_id") if before is not None else None
    if before is None or not resource_id:
        return None
    door: str | None = situation.named(entity("resource", resource_id)).get("door")
    is_same = door == situation.value("resource.door") and before.get("member_id") == booking.get("member_id")
    return None if is_same else door


def _outstanding(situation: Situation, invoice: Entity) -> Money | None:
    return outstanding(invoice.get("total"), invoice.part_values())


def _days_overdue(situation: Situation, invoice: Entity) -> int | None:
    """Return whole days since the due day, by the space's calendar; 0 until it has ended."""
    due_on = invoice.get("due_on")
    if due_on is None:
        return None
    overdue: int = (situation.at.astimezone(situation.zone).date() - due_on).days
    return max(0, overdue)


def _paid_at(situation: Situation, invoice: Entity) -> datetime | None:
    """Return when the payment came that left nothing outstanding, or None while something is."""
    so_far: list[Mapping[str, Any]] = []
    for part in sorted(invoice.parts.values(), key=lambda each: each.stamp):
        so_far.append(part.values)
        left = outstanding(invoice.get("total"), so_far)
        if left is not None and left.amount <= 0:
            return part.stamp.time
    return None


def _bookings_before(situation: Situation, member: Entity) -> int | None:
    booking = situation.entity("booking")
    return None if booking is None else situation.counts.bookings_before(id_of(member.stream), booking)


Derive = Callable[["Situation", Entity], object | None]
"""Computes a fact."""

DERIVED: Mapping[tuple[str, str], Derive] = {
    ("booking", "duration"): _duration,
    ("booking", "weekday"): _weekday,
    ("booking", "date"): _date,
    ("booking", "start_time"): _start_time,
    ("booking", "end_time"): _end_time,
    ("booking", "door_left"): _door_left,
    ("invoice", "outstanding"): _outstanding,
    ("invoice", "days_overdue"): _days_overdue,
    ("invoice", "paid_at"): _paid_at,
    ("member", "bookings_before"): _bookings_before,
}
"""What is computed: by the kind of entity and the name of the fact."""
