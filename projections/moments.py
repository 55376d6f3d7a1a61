"""The dated instants of entities, sorted so that a tick finds what falls due, and whom to look at again.

`instant` and `wall` are microseconds since 1970, the wall time as if it were UTC: numbers, so that one
statement can ask for many ranges on both databases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa

from domain.facts import Entity, Fact
from domain.moments import KINDS, Moment, moments_of, next_reminder_moment
from projections.columns import BigInt, Key, metadata
from projections.many_rows import among, insert, insert_missing, texts
from projections.projection import Batch

moments = sa.Table(
    "moments",
    metadata,
    sa.Column("entity", Key, primary_key=True),
    sa.Column("trigger", Key, primary_key=True),
    sa.Column("instant", BigInt, nullable=False),
    sa.Column("wall", BigInt, nullable=False),
    sa.Column("zone", Key, nullable=False),
    sa.Column("space", Key, nullable=False),
    sa.Index("ix_moments_instant", "trigger", "instant", "entity"),
    sa.Index("ix_moments_wall", "trigger", "zone", "wall", "entity"),
)
"""One row for each moment of an entity, however far ahead."""

second_looks = sa.Table("second_looks", metadata, sa.Column("entity", Key, primary_key=True))
"""The entities that clock triggers have to look at again, because something about them has changed."""

moment_zones = sa.Table("moment_zones", metadata, sa.Column("zone", Key, primary_key=True))
"""Every zone that a moment was ever in: calendar offsets are looked for zone by zone."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def microseconds(instant: datetime) -> int:
    """Return an instant, or a wall time as if it were UTC, as whole microseconds since 1970."""
    aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
    return (aware - EPOCH) // MICROSECOND


def instant_at(count: int) -> datetime:
    """Return the instant of a number of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=count)


class MomentsProjection:
    """Keeps the moments of bookings, invoices and subscriptions, and of reminders their next occurrence."""

    tables: tuple[sa.Table, ...] = (moments, second_looks, moment_zones)

    def __init__(self, default_zone: str) -> None:
        self._default_zone = default_zone

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Write the moments of each entity that the batch is about, or whose place it changes."""
        facts = [entry.event for entry in batch.recorded if isinstance(entry.event, Fact)]
        dated = [fact for fact in facts if fact.noun.kind in KINDS]
        displaced = dict.fromkeys(_displaced(connection, batch))
        streams = dict.fromkeys(fact.stream for fact in dated if _may_move(fact)) | displaced
        entities = [batch.find(stream) for stream in streams]
        found = [moment for entity in entities for moment in self._moments(entity, batch)]
        replace_moments(connection, list(streams), found)
        look_again(connection, dict.fromkeys(fact.stream for fact in dated) | displaced)

    def _moments(self, entity: Entity, batch: Batch) -> list[Moment]:
        if entity.noun.kind == "reminder":
            ahead = next_reminder_moment(entity, batch.find, self._default_zone, batch.looked_until)
            return [] if ahead is None else [ahead]
        return moments_of(entity, batch.find, self._default_zone)


def _may_move(fact: Fact) -> bool:
    """Say whether a fact may change the moments of its entity: most changes of bookings do not."""
    return fact.noun.kind != "booking" or fact.version == 1 or not _MOVING.isdisjoint(fact.changed)


_MOVING = frozenset({"status", "starts_at", "ends_at", "checked_out_at", "resource_id", "space_id"})


def replace_moments(connection: sa.Connection, streams: list[str], found: Iterable[Moment]) -> None:
    """Put the moments of these entities in the place of those that they had."""
    connection.execute(_deletion(connection.dialect.name), texts(streams))
    rows = [moment_row(moment) for moment in found]
    insert(connection, moments, rows)
    insert_missing(connection, moment_zones, [{"zone": zone} for zone in {row["zone"] for row in rows}])


def moment_row(moment: Moment) -> dict[str, Any]:
    """Return the row of a moment."""
    return {
        "entity": moment.entity,
        "trigger": moment.trigger,
        "instant": microseconds(moment.instant),
        "wall": microseconds(moment.wall),
        "zone": moment.zone,
        "space": moment.space,
    }


def look_again(connection: sa.Connection, streams: Iterable[str]) -> None:
    """Have clock triggers look at these entities again at the next tick."""
    insert_missing(connection, second_looks, [{"entity": stream} for stream in streams])


def _displaced(connection: sa.Connection, batch: Batch) -> Iterator[str]:
    """Return the entities with moments whose space got another zone, or whose resource another space.

    Places change rarely, so the whole table is gone through then rather than kept sorted for it.
    """
    places = [
        entry.event
        for entry in batch.recorded
        if isinstance(entry.event, Fact) and {"time_zone", "space_id"} & set(entry.event.changed)
    ]
    spaces = {fact.stream for fact in places if fact.noun.kind == "space"}
    resources = [fact for fact in places if fact.noun.kind == "resource"]
    query = sa.select(moments.c.entity).distinct()
    if any(fact.version > 1 for fact in resources):
        yield from connection.scalars(query)
    elif spaces or resources:
        yield from connection.scalars(query.where(moments.c.space.in_([*spaces, ""])))


@cache
def _deletion(dialect: str) -> sa.Delete:
    return sa.delete(moments).where(among(dialect, moments.c.entity))
