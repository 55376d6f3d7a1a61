"""The follower that fills the projections, and their rebuilding."""

from __future__ import annotations

import time
from collections.abc import Sequence

import sqlalchemy as sa

from adapters.database import log_queries, meta, watermark
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache
from adapters.database.follower import PageReader
from adapters.database.schema import tracking
from adapters.database.unit_of_work import retrying, unit_of_work
from projections.projection import Batch, Projection

FOLLOWER = "projections"

REBUILT_UP_TO = "projections-rebuilt-up-to"
"""Where the position is remembered that the projections had before they were emptied last."""


class Projector:
    """Takes events over into all projections, a batch in each transaction."""

    def __init__(
        self,
        log: EventLog,
        projections: Sequence[Projection],
        *,
        cache: EntityCache | None = None,
        pages: PageReader | None = None,
    ) -> None:
        self._log = log
        self._projections = projections
        self._cache = cache or EntityCache(log.mapper)
        self._pages = pages or PageReader(log)
        self._reached = 0

    def follow(self) -> int:
        """Take one page over; return how many events it held. 0 means the head was reached."""
        return retrying(self._follow, sleep=time.sleep)  # another worker may take this page over

    def _follow(self) -> int:
        with reading(self._log.engine) as connection:
            page = self._pages.read(connection, log_queries.tracked_position(connection, FOLLOWER))
            if not page.events:
                return 0
            self._cache.at_head(connection).prepare_for(page.facts)  # before others have to wait for this one
        with unit_of_work(self._log, "project") as work:
            work.track(FOLLOWER, page.last, after=page.after)
            states = self._cache.at_head(work.connection)
            states.prepare_for(page.facts)
            batch = Batch(page.recorded, states.readable, watermark.stored(work.connection))
            for projection in self._projections:
                projection.apply(work.connection, batch)
        self._cache.trim()
        self._reached = page.last
        return page.events

    def catch_up(self, to: int | None = None) -> int:
        """Take over everything up to a position, or else to the head; return how many events that were."""
        total = 0
        while count := self.follow():
            total += count
            if to is not None and self._reached >= to:
                break
        return total

    def empty(self) -> None:
        """Empty all tables and begin again from the first event, in one transaction.

        Whoever follows next fills them; until then they are behind, as after a long outage.
        """
        with unit_of_work(self._log) as work:
            position = log_queries.tracked_position(work.connection, FOLLOWER)
            meta.remember(work.connection, REBUILT_UP_TO, str(max(position, rebuilt_up_to(work.connection))))
            work.connection.execute(sa.delete(tracking).where(tracking.c.follower == FOLLOWER))
            for projection in self._projections:
                for table in projection.tables:
                    work.connection.execute(sa.delete(table))


def rebuilt_up_to(connection: sa.Connection) -> int:
    """Return the position up to which the projections are being rebuilt, or were; before it they tell too little."""
    return int(meta.remembered(connection, REBUILT_UP_TO) or 0)
