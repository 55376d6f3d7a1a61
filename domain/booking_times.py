"""When a booking begins and ends: its instants, as its space's clock has them now.

A booking keeps the wall times that it was recorded with. When the zone of its space is corrected, or zone
data change, what has not begun moves to the instant that its wall time has now (semantics 2).
"""

from __future__ import annotations

from datetime import date, datetime
from zoneinfo import ZoneInfo

from domain.civil_time import end_of_date, instant_of, start_of_date, wall_of
from domain.facts import Entity

SPANNING = frozenset({"starts_at", "ends_at"})
"""The fields between which a booking lasts."""


def instant_of_booking(booking: Entity, name: str, zone: ZoneInfo, corrected_at: datetime | None) -> datetime | None:
    """Return the instant of `starts_at` or `ends_at` in the zone that the booking's space has.

    Whole days begin with their first instant and end with their last. `corrected_at` is when the zone of the
    space was corrected, if ever: what had begun by then stays where it was.
    """
    value = booking.get(name)
    if value is None:
        return None
    if not isinstance(value, datetime):
        return start_of_date(value, zone) if name == "starts_at" else end_of_date(value, zone)
    wall = booking.walls.get(name)
    if wall is None or wall_of(value, zone) == wall:
        return value
    had_begun = corrected_at is not None and value <= corrected_at
    return value if had_begun else instant_of(wall, zone)


def day_of_booking(booking: Entity, name: str, default_zone: ZoneInfo) -> date | None:
    """Return the local date on which a booking starts or ends, as of its recording.

    Where its zone was not known then the operator's default makes the date, so that it stays the same (semantics 8).
    """
    value = booking.get(name)
    if value is None or not isinstance(value, datetime):
        return value if isinstance(value, date) else None
    wall = booking.walls.get(name)
    return wall.date() if wall is not None else wall_of(value, default_zone).date()
