"""The queue: work that waits for its time, and the leases of those who do it.

A row is free, or leased by one owner. Leasing raises its attempt, and everything the owner does later names
owner and attempt, so that whoever lost a lease changes nothing any more. A lease has no end on the clock:
its owner raises a counter, and `lease_observer` notices who has stopped. What waits behind a held lane is set
apart: it is neither due nor leased until the lane lets it through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from adapters.database.bulk import insert_rows
from adapters.database.schema import queue as table
from projections.many_rows import among, texts

AT_ONCE = datetime(1970, 1, 1, tzinfo=UTC)
"""What is stored as the due time of work that has none: earlier than any clock says."""


class Waiting(NamedTuple):
    """An item to be done: at once, or when it is due.

    Items due at the same instant are done by ascending `rank`. The payload is a small JSON value. `attempt`
    counts the leases before, where an item comes back into its queue.
    """

    queue: str
    item: str
    due_at: datetime | None = None
    rank: int = 0
    payload: Any = None
    attempt: int = 0


def rank_of(instant: datetime) -> int:
    """Return the rank that keeps items in the order of instants, such as those at which they were asked for."""
    return (instant - AT_ONCE) // timedelta(milliseconds=1)


class Lease(NamedTuple):
    """An item that one owner is doing, for the time being; owner and attempt make it one lease of many."""

    queue: str
    item: str
    owner: str
    attempt: int
    due_at: datetime | None = None
    rank: int = 0
    payload: Any = None

    def __hash__(self) -> int:
        return hash((self.queue, self.item, self.owner, self.attempt))  # a payload may have no hash

    @classmethod
    def of_row(cls, row: Iterable[Any]) -> Lease:
        """Return the lease that a statement returned, column by column."""
        lease = cls(*row)
        return lease._replace(due_at=None) if lease.due_at == AT_ONCE else lease


def enqueue(connection: sa.Connection, rows: Iterable[Waiting], leased_by: str | None = None) -> None:
    """Put items into their queues, or into the hands of an owner at once, whose first attempt is counted.

    Raises Conflict, with the transaction, where an item is there already.
    """
    begun = 0 if leased_by is None else 1
    made = [(*row[:2], row.due_at or AT_ONCE, row.rank, row.payload, row.attempt + begun, leased_by, 0) for row in rows]
    insert_rows(connection, _COLUMNS, made)


def enqueue_leased(connection: sa.Connection, rows: Iterable[Waiting], owner: str) -> list[Lease]:
    """Put items into the hands of an owner at once; return the leases."""
    made = list(rows)
    enqueue(connection, made, leased_by=owner)
    return [Lease(row.queue, row.item, owner, row.attempt + 1, row.due_at, row.rank, row.payload) for row in made]


def lease(connection: sa.Connection, queue: str, owner: str, limit: int, now: datetime) -> list[Lease]:
    """Take at most so many free items that are due, and return them in the order they are due.

    What is not in the answer was not taken, whatever the table seemed to hold a moment ago.
    """
    wanted = {"in_queue": queue, "limit": limit, "now": now, "new_owner": owner}
    taken = connection.execute(_leasing(connection.dialect.name), wanted)
    return sorted(map(Lease.of_row, taken), key=_order)


def heartbeat(connection: sa.Connection, leases: Iterable[Lease]) -> list[Lease]:
    """Show that the owner is alive and still at these items; return the leases that are lost."""
    return _fenced(connection, _settling(connection.dialect.name).beat, leases)


def complete(connection: sa.Connection, leases: Iterable[Lease]) -> list[Lease]:
    """Take finished items out of their queues; return the leases that were lost, whose items stay."""
    return _fenced(connection, _settling(connection.dialect.name).complete, leases)


def release(connection: sa.Connection, leases: Mapping[Lease, datetime | None]) -> list[Lease]:
    """Put each item back until it is due again, at once for None; return the leases that were lost."""
    by_time: dict[datetime, list[Lease]] = {}
    for held, due_at in leases.items():
        by_time.setdefault(due_at or AT_ONCE, []).append(held)
    lost: list[Lease] = []
    for due_at, together in by_time.items():
        lost += _fenced(connection, _settling(connection.dialect.name).release, together, new_due=due_at)
    return lost


def set_apart(connection: sa.Connection, leases: Iterable[Lease], lane: str, at: datetime) -> list[Lease]:
    """Put items back behind a held lane, at the end of its line; return the leases that were lost."""
    return _fenced(connection, _settling(connection.dialect.name).set_apart, leases, of_lane=lane, new_due=at)


def lease_apart(connection: sa.Connection, queue: str, lane: str, owner: str, limit: int) -> list[Lease]:
    """Take so many of the items that wait behind a lane longest."""
    wanted = {"in_queue": queue, "of_lane": lane, "limit": limit, "new_owner": owner}
    taken = connection.execute(_leasing(connection.dialect.name, apart=True), wanted)
    return sorted(map(Lease.of_row, taken), key=_order)


def let_through(connection: sa.Connection, queue: str, lane: str) -> int:
    """Give back everything that waits behind a lane, due as it was; return how much that is."""
    return connection.execute(_LET_THROUGH, {"in_queue": queue, "of_lane": lane}).rowcount


def hasten(connection: sa.Connection, queue: str, items: Iterable[str]) -> int:
    """Make free items due at once, also those that are set apart; return how many those are."""
    return connection.execute(_HASTEN, {"in_queue": queue, "items": list(items), "at_once": AT_ONCE}).rowcount


def withdraw(connection: sa.Connection, queue: str, items: Iterable[str]) -> int:
    """Take free items out of their queue, also those that are set apart; return how many those are."""
    return connection.execute(_WITHDRAW, {"in_queue": queue, "items": list(items)}).rowcount


def next_due(connection: sa.Connection, queue: str) -> datetime | None:
    """Return when the next free item is due, `AT_ONCE` for one without a time, or None where none waits."""
    due_at: datetime | None = connection.scalar(_NEXT_DUE, {"in_queue": queue})
    return due_at


def _fenced(connection: sa.Connection, statement: sa.Executable, leases: Iterable[Lease], **values: Any) -> list[Lease]:
    """Run a statement on what is still leased as it was; return the other leases, which are lost."""
    groups: dict[tuple[str, str, int], dict[str, Lease]] = {}
    for held in leases:
        groups.setdefault((held.queue, held.owner, held.attempt), {})[held.item] = held
    lost: list[Lease] = []
    for (queue, owner, attempt), together in groups.items():
        fence = {"in_queue": queue, "by": owner, "at_attempt": attempt, **texts(together)}
        kept = set(connection.scalars(statement, fence | values))
        lost += [held for item, held in together.items() if item not in kept]
    return lost


def _order(lease: Lease) -> tuple[datetime, int, str]:
    return lease.due_at or AT_ONCE, lease.rank, lease.item


_COLUMNS = [table.c[name] for name in ("queue", "item", "due_at", "rank", "payload", "attempt", "owner", "beat")]
LEASE_COLUMNS = [table.c[name] for name in Lease._fields]
"""What a statement has to return for `Lease.of_row`."""

_WAITS = sa.and_(table.c.queue == sa.bindparam("in_queue"), table.c.owner.is_(None))
_FREE = sa.and_(_WAITS, table.c.lane.is_(None))
_APART = sa.and_(_WAITS, table.c.lane == sa.bindparam("of_lane"))


@cache
def _leasing(dialect: str, *, apart: bool = False) -> sa.Executable:
    """Return the statement that leases the first of what waits, behind a lane or free and due."""
    waiting = _APART if apart else _FREE
    due = sa.true() if apart else table.c.due_at <= sa.bindparam("now")
    # A common table expression, because PostgreSQL may run a plain subselect twice and take more than the limit.
    first = (
        sa.select(table.c.item)
        .where(waiting, due)
        .order_by(table.c.due_at, table.c.rank, table.c.item)
        .limit(sa.bindparam("limit"))
        .with_for_update(skip_locked=True)
        .cte("due")
    )
    return (
        sa.update(table)
        .where(waiting, _among(dialect, sa.select(first.c.item)))
        .values(owner=sa.bindparam("new_owner"), lane=None, attempt=table.c.attempt + 1, beat=table.c.beat + 1)
        .returning(*LEASE_COLUMNS)
    )


def _among(dialect: str, items: sa.Select[Any]) -> sa.ColumnElement[bool]:
    """Return the condition that an item is one of those that a question finds."""
    if dialect == "postgresql":
        # As a list, each of which is looked up: else it compares them with all that ever stood in the queue.
        return table.c.item == sa.any_(sa.func.array(items.scalar_subquery(), type_=ARRAY(sa.Text)))
    return table.c.item.in_(items)


_LET_THROUGH = sa.update(table).where(_APART).values(lane=None)


@dataclass(frozen=True, slots=True)
class _Settling:
    """What is done about items that are leased, for one kind of database: each statement returns those it found."""

    beat: sa.Executable
    complete: sa.Executable
    release: sa.Executable
    set_apart: sa.Executable


@cache
def _settling(dialect: str) -> _Settling:
    held = sa.and_(
        table.c.queue == sa.bindparam("in_queue"),
        table.c.owner == sa.bindparam("by"),
        table.c.attempt == sa.bindparam("at_attempt"),
        among(dialect, table.c.item),
    )
    beaten = sa.update(table).where(held).values(beat=table.c.beat + 1)
    free = beaten.values(owner=None, due_at=sa.bindparam("new_due"))
    return _Settling(
        beat=beaten.returning(table.c.item),
        complete=sa.delete(table).where(held).returning(table.c.item),
        release=free.returning(table.c.item),
        set_apart=free.values(lane=sa.bindparam("of_lane")).returning(table.c.item),
    )


_THESE = sa.and_(_WAITS, table.c.item.in_(sa.bindparam("items", expanding=True)))
_WITHDRAW = sa.delete(table).where(_THESE)
_HASTEN = sa.update(table).where(_THESE).values(due_at=sa.bindparam("at_once"), lane=None)
_NEXT_DUE = sa.select(sa.func.min(table.c.due_at)).where(_FREE)
