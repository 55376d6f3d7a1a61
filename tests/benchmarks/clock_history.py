"""What the clock's benchmark is measured on: a thousand rules, what falls due for them, and what lies far away."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from adapters.database.bulk import insert_rows
from adapters.database.engine import writing
from projections.moments import microseconds, moment_zones, moments
from tests.history import ZONES

BEGIN = datetime(2026, 5, 4, 6, 0, tzinfo=UTC)
LEAD = timedelta(hours=36)
"""How long before their start the measured bookings are due."""

Event = dict[str, Any]

TRIGGERS = {
    "booking.starting": ("before", "minutes", "hours", "days", "days at"),
    "booking.ending": ("before", "minutes", "hours"),
    "booking.ended": ("after", "minutes", "hours", "days", "days at"),
    "invoice.due": ("before", "days", "days at", "weeks"),
    "invoice.overdue": ("after", "days", "days at", "weeks", "hours"),
    "subscription.expiring": ("before", "weeks", "months", "days at"),
    "subscription.ended": ("after", "days", "weeks"),
}


def written_rules(most: int) -> Iterator[Event]:
    """Yield so many rules as an author writes them, of all clock triggers and kinds of offset; one is measured."""
    task = [{"create_task": {"title": "{{ member.name }} at {{ booking.starts_at }}"}}]
    where = ["resource.kind is meeting_room", "booking.attendees at least 2"]
    yield {"id": "measured", "when": "booking.starting", "before": "36 hours", "where": where, "do": task}
    kinds = [(when, direction, unit) for when, (direction, *units) in TRIGGERS.items() for unit in units]
    for number in range(1, most):
        when, direction, unit = kinds[number % len(kinds)]
        name, _, clock = unit.partition(" ")
        amount = 40 + number % (20 if name in {"weeks", "months"} else 300)
        offset = f"{amount if name != 'months' else amount % 5 + 1} {name}"
        offset += f" at {8 + number % 9:02d}:{number % 60:02d}" if clock else ""
        yield {"id": f"rule-{number}", "when": when, direction: offset, "do": [{"create_task": {"title": "Look"}}]}


def store_far_moments(engine: sa.Engine, most: int) -> None:
    """Fill the index with moments that no rule is due by for years."""
    kinds = list(TRIGGERS)
    far = BEGIN + timedelta(days=5 * 365)
    with writing(engine) as connection:
        columns = [moments.c[name] for name in ("entity", "trigger", "instant", "wall", "zone", "space")]
        rows = (far_moment(number, kinds[number % len(kinds)], far) for number in range(most))
        insert_rows(connection, columns, rows)
        known = set(connection.scalars(sa.select(moment_zones.c.zone)))
        insert_rows(connection, [moment_zones.c.zone], [(zone,) for zone in ZONES if zone not in known])
        connection.exec_driver_sql("ANALYZE")


def far_moment(number: int, trigger: str, far: datetime) -> tuple[object, ...]:
    shift = timedelta(minutes=7 * (number % 500_000), days=-4000 if number % 2 else 0)
    at = microseconds(far + shift)
    zone = number % len(ZONES)
    return f"{trigger.partition('.')[0]}/far{number}", trigger, at, at + 7_200_000_000, ZONES[zone], f"space/s{zone}"


def events(due: int) -> Iterator[Event]:
    """Yield the places, the members, and bookings of which one after the other will be due within a minute."""
    for number, zone in enumerate(ZONES):
        space = {"space_id": f"s{number}", "name": f"House {number}", "time_zone": zone, "currency": "EUR"}
        yield event("space.opened", **space)
    for number in range(40):
        place = {"resource_id": f"r{number}", "space_id": f"s{number % len(ZONES)}", "name": f"Room {number}"}
        yield event("resource.added", **place, kind="meeting_room")
    for number in range(500):
        yield event("member.registered", member_id=f"m{number}", name=f"Member {number}")
    for number in range(due):
        starts = BEGIN + timedelta(minutes=2) + LEAD + timedelta(seconds=60 * number / due)
        yield event(
            "booking.created",
            booking_id=f"b{number}",
            resource_id=f"r{number % 40}",
            member_id=f"m{number % 500}",
            starts_at=starts.isoformat(),
            ends_at=(starts + timedelta(hours=2)).isoformat(),
            attendees=2 + number % 9,
        )


def event(kind: str, /, **data: Any) -> Event:
    event.number += 1  # type: ignore[attr-defined]
    at = BEGIN - timedelta(days=1)
    return {"id": f"e{event.number:07d}", "source": "bench", "type": kind, "time": at.isoformat(), "data": data}  # type: ignore[attr-defined]


event.number = 0  # type: ignore[attr-defined]
