"""What to look at again: candidates that failed keep the entities that they read, until their limit.

A change of one of these makes the candidate's entity one that the next tick looks at again (semantics 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from adapters.database.schema import metadata
from automations.candidates import Trace
from projections.columns import Instant, Key
from projections.many_rows import among, texts
from projections.moments import look_again, second_looks

watches = sa.Table(
    "watches",
    metadata,
    sa.Column("stream", Key, primary_key=True),
    sa.Column("entity", Key, primary_key=True),
    sa.Column("until", Instant, nullable=False, index=True),
)


def watch(connection: sa.Connection, traces: Iterable[Trace], now: datetime) -> bool:
    """Keep what failed candidates read, each until the latest limit that it serves; say whether that is anything."""
    rows: dict[tuple[str, str], datetime] = {}
    for trace in traces:
        if trace.watched_until is not None and trace.watched_until >= now:
            for stream in trace.reads:
                place = (stream, trace.candidate.entity)
                rows[place] = max(rows.get(place, trace.watched_until), trace.watched_until)
    if not rows:
        return False
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    insert = dialect.insert(watches)
    later = insert.on_conflict_do_update(
        index_elements=["stream", "entity"],
        set_={"until": insert.excluded.until},
        where=watches.c.until < insert.excluded.until,
    )
    values = [{"stream": stream, "entity": entity, "until": until} for (stream, entity), until in rows.items()]
    connection.execute(later, values)
    return True


def changed(connection: sa.Connection, streams: Sequence[str]) -> None:
    """Have everything that watches one of these streams looked at again."""
    found = connection.scalars(_watching(connection.dialect.name), texts(streams)).all()
    look_again(connection, found)


@cache
def _watching(dialect: str) -> sa.Select[Any]:
    return sa.select(watches.c.entity).where(among(dialect, watches.c.stream)).distinct()


def to_look_at(connection: sa.Connection, after: str, limit: int) -> list[str]:
    """Return entities that have to be looked at again, by name, behind one."""
    query = (
        sa.select(second_looks.c.entity)
        .where(second_looks.c.entity > after)
        .order_by(second_looks.c.entity)
        .limit(limit)
    )
    return list(connection.scalars(query))


def looked_at(connection: sa.Connection, entities: Sequence[str]) -> None:
    """Take entities off the list."""
    for start in range(0, len(entities), _CHUNK):
        chunk = entities[start : start + _CHUNK]
        connection.execute(sa.delete(second_looks).where(second_looks.c.entity.in_(chunk)))


def drop_over(connection: sa.Connection, now: datetime) -> None:
    """Drop what nobody needs to watch any more."""
    connection.execute(sa.delete(watches).where(watches.c.until < now))


_CHUNK = 500
