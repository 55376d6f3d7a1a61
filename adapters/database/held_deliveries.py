"""What is held for quiet hours is looked at again at once where those change, or the zone that they are read in."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from adapters.database.delivery_queue import LANES, queue_of
from adapters.database.queue import hasten
from domain.facts import Fact
from projections.deliveries import deliveries

CHUNK = 500
"""Deliveries that one statement names."""


def look_again_at_held(connection: sa.Connection, member: str) -> None:
    """Make what is held for a member due at once: it is held anew, or goes out."""
    _look_again(connection, deliveries.c.to == f"member/{member}")


def look_again_after(connection: sa.Connection, facts: Iterable[Fact]) -> None:
    """Do so after facts that change somebody's zone, or the hours or the zone of a space."""
    changed = {fact.stream for fact in facts if not _HOURS.isdisjoint(fact.changed)}
    if any(stream.startswith("space/") for stream in changed):
        _look_again(connection, sa.true())  # rare, and which of them the space is that of is not in the table
    elif members := [stream for stream in changed if stream.startswith("member/")]:
        _look_again(connection, deliveries.c.to.in_(members))


_HOURS = frozenset({"time_zone", "quiet_hours"})


def _look_again(connection: sa.Connection, whose: sa.ColumnElement[bool]) -> None:
    named = sa.select(deliveries.c.channel, deliveries.c.delivery).where(deliveries.c.status == "held", whose)
    found: dict[str, list[str]] = {}
    for channel, delivery in connection.execute(named):
        found.setdefault(channel, []).append(delivery)
    for channel, items in found.items():
        for lane in LANES:
            for start in range(0, len(items), CHUNK):
                hasten(connection, queue_of(channel, lane), items[start : start + CHUNK])
