"""Followers read the log in pages; what they do with a page and their new position are one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_log import EventLog
from adapters.database.set_aside import SetAside
from domain.errors import CorruptEvent
from domain.facts import Fact
from projections.projection import Recorded

BATCH = 2_000
"""Events in one transaction at most: where the measured rates level off."""

SHORTEST = 50
"""Events of the shortest page, to which others who keep changing its facts can drive a follower."""


@dataclass(frozen=True, slots=True)
class Page:
    """The events after a position: those that can be read, the facts among them, and those that are set aside.

    An event that cannot be read stops its own stream and nothing else.
    """

    after: int
    last: int
    recorded: Sequence[Recorded]
    facts: Sequence[Fact]
    set_aside: Sequence[SetAside] = ()

    @property
    def events(self) -> int:
        """Return how many events there are in all."""
        return self.last - self.after

    @property
    def in_order(self) -> Sequence[Recorded | SetAside]:
        """Return everything as it stands in the log."""
        if not self.set_aside:
            return self.recorded
        return sorted([*self.recorded, *self.set_aside], key=lambda entry: entry.position)


class PageReader:
    """Reads pages for the followers of one worker: who comes second is given what the first one read.

    A page whose facts change while it is evaluated has to be evaluated anew. The longer it is, the likelier that
    becomes; so pages get shorter until one gets through, and longer again from there.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._last: Page | None = None
        self._longest = BATCH

    def read(self, connection: sa.Connection, position: int, up_to: int | None = None) -> Page:
        """Return the next events after a position, none beyond `up_to`; at the end there are none."""
        known = self._last
        if known is None or known.after != position or not known.events or (up_to or known.last) < known.last:
            known = self._last = read_page(connection, self._log, position, self._longest, up_to)
        return known

    def shorten(self) -> None:
        """Read shorter pages from now on, the present one again among them: it did not get through."""
        self._longest = max(SHORTEST, self._longest // 4)
        self._last = None

    def lengthen(self) -> None:
        """Read longer pages from now on: one got through."""
        self._longest = min(BATCH, self._longest * 2)


def read_page(
    connection: sa.Connection, log: EventLog, position: int, limit: int = BATCH, up_to: int | None = None
) -> Page:
    """Return the next events after a position, none beyond `up_to`; at the end there are none."""
    recorded: list[Recorded] = []
    corrupt: list[SetAside] = []
    last = position
    for row in log_queries.events_after(connection, position, limit, up_to):
        last = row.position
        try:
            recorded.append(Recorded(row.position, log.mapper.read(row)))
        except CorruptEvent as error:
            corrupt.append(SetAside(row.position, error))
    facts = [entry.event for entry in recorded if isinstance(entry.event, Fact)]
    return Page(position, last, recorded, facts, corrupt)
