"""What the engine asks the log: each question inside a transaction that the caller holds.

Questions about many streams send them as one value, so that a statement is the same for 1 and for 500:
its plan is kept, and the database looks up the unique index once for each stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from adapters.database.schema import events, head, tracking

CHUNK = 1_000
"""Streams that one statement asks about."""


class StoredRow(NamedTuple):
    """An event as it is stored."""

    position: int
    stream: str
    version: int
    topic: str
    state: bytes


_PLACE = attrgetter("stream", "version")
_STORED = [events.c[name] for name in StoredRow._fields]


def events_after(connection: sa.Connection, position: int, limit: int, up_to: int | None = None) -> list[StoredRow]:
    """Return the events after a position in log order, at most `limit`, none beyond `up_to`."""
    query = _AFTER if up_to is None else _BETWEEN
    bounds = {"after": position, "limit": limit, "up_to": up_to}
    return list(map(StoredRow._make, connection.execute(query, bounds).all()))


def streams(
    connection: sa.Connection,
    stream_ids: Iterable[str],
    after_versions: Mapping[str, int] | None = None,
) -> list[StoredRow]:
    """Return the events of streams, each stream's in the order of its versions.

    Of a stream that stands in `after_versions` only those with a higher version come.
    """
    after = after_versions or {}
    wanted = {stream: after.get(stream, 0) for stream in stream_ids}
    # Sorted here, because SQLite would carry every state through a temporary tree to do it.
    return sorted(map(StoredRow._make, _asked(connection, "newer", wanted)), key=_PLACE)


def one(connection: sa.Connection, stream: str, version: int) -> StoredRow:
    """Return the one event of a stream at a version, which there is."""
    return StoredRow._make(connection.execute(_ONE, {"stream": stream, "version": version}).one())


def of_kind(connection: sa.Connection, kind: str, after: int, up_to: int) -> list[StoredRow]:
    """Return the events of all entities of a kind, such as `rule`, between two positions, in log order."""
    bounds = {"first": f"{kind}/", "end": f"{kind}0", "after": after, "up_to": up_to}  # "0" comes after "/"
    return sorted(map(StoredRow._make, connection.execute(_OF_KIND, bounds)))


def streams_of_kind(connection: sa.Connection, kind: str, after: str, limit: int) -> list[str]:
    """Return the streams of a kind of entity, by name, behind one; at most so many."""
    bounds = {"first": f"{kind}/", "end": f"{kind}0", "after": after, "limit": limit}  # "0" comes after "/"
    return list(connection.scalars(_STREAMS_OF_KIND, bounds))


def last_versions(connection: sa.Connection, stream_ids: Iterable[str]) -> dict[str, int]:
    """Return the last version of each of these streams that exists."""
    return dict(_asked(connection, "last", dict.fromkeys(stream_ids, 0)))


def existing_streams(connection: sa.Connection, stream_ids: Iterable[str]) -> set[str]:
    """Return those of the streams that have begun."""
    return existing_versions(connection, dict.fromkeys(stream_ids, 1))


def existing_versions(connection: sa.Connection, versions: Mapping[str, int]) -> set[str]:
    """Return those of the streams that have an event with the version named."""
    return {stream for (stream,) in _asked(connection, "exact", versions)}


def touched_between(connection: sa.Connection, after: int, up_to: int) -> set[str]:
    """Return the streams that got an event after a position, up to and including another."""
    return set(connection.scalars(_TOUCHED, {"after": after, "up_to": up_to}))


def streams_begun_after(connection: sa.Connection, position: int, topic: str) -> list[str]:
    """Return the streams that began with an event of this topic after a position."""
    return list(connection.scalars(_BEGUN, {"after": position, "topic": topic}))


def newest_versions(connection: sa.Connection, after: int, up_to: int) -> dict[str, int]:
    """Return the streams that got an event after a position, up to another, each with its newest version."""
    newest = connection.execute(_NEWEST, {"after": after, "up_to": up_to})
    return {stream: version for stream, version in newest}  # noqa: C416 - a row is no pair to the type checker


def head_position(connection: sa.Connection) -> int:
    """Return the last position of the log; 0 where nothing was recorded yet."""
    position: int = connection.execute(_HEAD).scalar_one()
    return position


def tracked_position(connection: sa.Connection, follower: str) -> int:
    """Return the position up to which a follower has read; 0 where it has not begun."""
    return connection.scalar(_TRACKED, {"follower": follower}) or 0


@dataclass(frozen=True, slots=True)
class _Questions:
    """The statements about many streams, for one kind of database."""

    newer: sa.Select[Any]
    last: sa.Select[Any]
    exact: sa.Select[Any]


@cache
def _questions(dialect: str) -> _Questions:
    wanted = _wanted(dialect)
    newer, exact = events.c.version > wanted.c.version, events.c.version == wanted.c.version
    last = sa.func.max(events.c.version)
    return _Questions(
        newer=_for_each(dialect, wanted, sa.select(*_STORED).where(newer)),
        last=_for_each(dialect, wanted, sa.select(events.c.stream, last.label("last")).group_by(events.c.stream)),
        exact=_for_each(dialect, wanted, sa.select(events.c.stream).where(exact)),
    )


def _for_each(dialect: str, wanted: sa.FromClause, question: sa.Select[Any]) -> sa.Select[Any]:
    """Return a question put for each wanted stream, by looking it up in the unique index."""
    asked = question.where(events.c.stream == wanted.c.stream)
    if dialect != "postgresql":
        return asked.select_from(wanted, events)
    # Else PostgreSQL, where it knows little of the log, reads the whole of it. An offset keeps the question apart.
    found = asked.offset(sa.literal_column("0")).lateral("found")
    return sa.select(*found.c).select_from(wanted).join(found, sa.true())


def _wanted(dialect: str) -> sa.FromClause:
    """Return a table of (stream, version) made from parameters, the way the database knows."""
    if dialect == "postgresql":
        lists = (
            sa.bindparam("streams", type_=ARRAY(sa.Text)),
            sa.bindparam("versions", type_=ARRAY(sa.Integer)),
        )
        return sa.func.unnest(*lists).table_valued("stream", "version").render_derived(name="wanted")
    pairs = sa.func.json_each(sa.bindparam("pairs", type_=sa.Text)).table_valued("key", "value").alias("pairs")
    return sa.select(pairs.c.key.label("stream"), pairs.c.value.label("version")).subquery("wanted")


def _asked(connection: sa.Connection, question: str, wanted: Mapping[str, int]) -> Iterator[Any]:
    dialect = connection.dialect.name
    query = getattr(_questions(dialect), question)
    for chunk in _chunks(wanted):
        if dialect == "postgresql":
            parameters: dict[str, Any] = {"streams": list(chunk), "versions": list(chunk.values())}
        else:
            parameters = {"pairs": json.dumps(chunk)}
        yield from connection.execute(query, parameters).all()


def _chunks(wanted: Mapping[str, int]) -> Iterator[dict[str, int]]:
    pairs = iter(wanted.items())
    while chunk := dict(islice(pairs, CHUNK)):
        yield chunk


_AFTER = (
    sa.select(*_STORED)
    .where(events.c.position > sa.bindparam("after"))
    .order_by(events.c.position)
    .limit(sa.bindparam("limit"))
)
_BETWEEN = _AFTER.where(events.c.position <= sa.bindparam("up_to"))
_ONE = sa.select(*_STORED).where(events.c.stream == sa.bindparam("stream"), events.c.version == sa.bindparam("version"))
_TOUCHED = (
    sa.select(events.c.stream)
    .where(events.c.position > sa.bindparam("after"), events.c.position <= sa.bindparam("up_to"))
    .distinct()
)
_BEGUN = sa.select(events.c.stream).where(
    events.c.position > sa.bindparam("after"), events.c.version == 1, events.c.topic == sa.bindparam("topic")
)
_NEWEST = (
    sa.select(events.c.stream, sa.func.max(events.c.version))
    .where(events.c.position > sa.bindparam("after"), events.c.position <= sa.bindparam("up_to"))
    .group_by(events.c.stream)
)
_STREAMS_OF_KIND = (
    sa.select(events.c.stream)
    .where(events.c.stream >= sa.bindparam("first"), events.c.stream < sa.bindparam("end"))
    .where(events.c.stream > sa.bindparam("after"), events.c.version == 1)
    .order_by(events.c.stream)
    .limit(sa.bindparam("limit"))
)
_OF_KIND = (
    sa.select(*_STORED)
    .where(events.c.stream >= sa.bindparam("first"), events.c.stream < sa.bindparam("end"))
    .where(events.c.position > sa.bindparam("after"), events.c.position <= sa.bindparam("up_to"))
)
_HEAD = sa.select(head.c.position).where(head.c.id == 1)
_TRACKED = sa.select(tracking.c.position).where(tracking.c.follower == sa.bindparam("follower"))
