"""Events that cannot be read: set aside where staff see them, while everything else goes on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from adapters.database.schema import metadata
from domain.errors import CorruptEvent
from projections.columns import BigInt, Instant, Key

set_aside = sa.Table(
    "set_aside",
    metadata,
    sa.Column("position", BigInt, primary_key=True, autoincrement=False),
    sa.Column("stream", Key, nullable=False, index=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("topic", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("at", Instant, nullable=False),
    sa.Column("settled_at", Instant),
)
"""Events that cannot be read, and since when nobody looks at them any more."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """An event that cannot be read, and its place in the log."""

    position: int
    error: CorruptEvent


def write(connection: sa.Connection, found: Sequence[SetAside], at: datetime) -> None:
    """Note events that cannot be read; each is noted once, when it was first met."""
    if not found:
        return
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    rows = [{"position": each.position, **_told(each.error), "at": at} for each in found]
    connection.execute(dialect.insert(set_aside).on_conflict_do_nothing(), rows)


def unsettled(connection: sa.Connection, topic: str = "") -> list[SetAside]:
    """Return the events that wait for somebody to look at them, of one topic or of all."""
    query = sa.select(set_aside).where(set_aside.c.settled_at.is_(None)).order_by(set_aside.c.position)
    if topic:
        query = query.where(set_aside.c.topic == topic)
    rows = connection.execute(query)
    return [SetAside(row.position, CorruptEvent(row.stream, row.version, row.topic, row.reason)) for row in rows]


def settle(connection: sa.Connection, positions: Collection[int], at: datetime) -> int:
    """Look no further at these events; return how many had been waiting."""
    waiting = set_aside.c.position.in_(list(positions)), set_aside.c.settled_at.is_(None)
    return connection.execute(sa.update(set_aside).where(*waiting).values(settled_at=at)).rowcount


def _told(error: CorruptEvent) -> dict[str, Any]:
    return {name: getattr(error, name) for name in ("stream", "version", "topic", "reason")}


def listed(connection: sa.Connection) -> list[Mapping[str, Any]]:
    """Return everything that was set aside, in the order of the log."""
    query = sa.select(set_aside).order_by(set_aside.c.position)
    return [dict(row._mapping) for row in connection.execute(query)]
