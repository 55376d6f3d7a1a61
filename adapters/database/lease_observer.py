"""Notices leases whose owner has stopped, and takes their items over.

What counts is how long the observer itself has seen the same beat, on a clock that only runs forward. So a
wall clock that is set back or ahead, here or where the owner is, ends no lease and keeps none alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import sqlalchemy as sa

from adapters.database.queue import LEASE_COLUMNS, Lease
from adapters.database.schema import queue as table

LEASE_TIME = 60.0
"""Seconds without a heartbeat after which a lease counts as lost."""


class _Sign(NamedTuple):
    """What an owner last showed of one lease."""

    owner: str
    attempt: int
    beat: int


class LeaseObserver:
    """Remembers since when each leased item has shown the same beat; one for each process that looks.

    `monotonic` returns seconds on a clock that is never set; `watches` says of a queue whether its leases are
    this one's to look at.
    """

    def __init__(
        self,
        monotonic: Callable[[], float],
        lease_time: float = LEASE_TIME,
        *,
        watches: Callable[[str], bool] = lambda queue: True,
    ) -> None:
        self._monotonic = monotonic
        self._lease_time = lease_time
        self._watches = watches
        self._seen: dict[tuple[str, str], tuple[_Sign, float]] = {}

    def look(self, connection: sa.Connection) -> dict[tuple[str, str], _Sign]:
        """Look at all leases, and return the last sign of those that have shown none for the lease time."""
        now = self._monotonic()
        seen: dict[tuple[str, str], tuple[_Sign, float]] = {}
        for queue, item, *signs in connection.execute(_LEASED):
            if not self._watches(queue):
                continue
            sign = _Sign(*signs)
            before = self._seen.get((queue, item))
            seen[queue, item] = before if before is not None and before[0] == sign else (sign, now)
        self._seen = seen
        return {place: sign for place, (sign, since) in seen.items() if now - since >= self._lease_time}

    def take_over(self, connection: sa.Connection, owner: str, limit: int = 100) -> list[Lease]:
        """Take over at most so many items whose owner has stopped, as a further attempt at each.

        Of two observers one gets an item. What became of the last attempt is for the new owner to find out.
        """
        taken = []
        for (queue, item), sign in list(self.look(connection).items())[:limit]:
            parameters: dict[str, Any] = {"in_queue": queue, "of_item": item, "new_owner": owner}
            parameters |= {"from_owner": sign.owner, "at_attempt": sign.attempt, "at_beat": sign.beat}
            row = connection.execute(_TAKE_OVER, parameters).one_or_none()
            if row is not None:
                taken.append(Lease.of_row(row))
        return taken


_LEASED = sa.select(table.c.queue, table.c.item, table.c.owner, table.c.attempt, table.c.beat).where(
    table.c.owner.is_not(None)
)
_TAKE_OVER = (
    sa.update(table)
    .where(
        table.c.queue == sa.bindparam("in_queue"),
        table.c.item == sa.bindparam("of_item"),
        table.c.owner == sa.bindparam("from_owner"),
        table.c.attempt == sa.bindparam("at_attempt"),
        table.c.beat == sa.bindparam("at_beat"),
    )
    .values(owner=sa.bindparam("new_owner"), attempt=table.c.attempt + 1, beat=table.c.beat + 1)
    .returning(*LEASE_COLUMNS)
)
