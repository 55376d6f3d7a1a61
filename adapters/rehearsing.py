"""Rules are rehearsed over the log: it is walked once, in order, and nothing is written or called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.follower import Page, read_page
from adapters.database.history import PastClock, PastCounts, PastEntities
from adapters.database.personal import StoredPersonalValues
from adapters.database.set_aside import SetAside
from automations.rehearsal import Rehearsal, Rehearsed, moves_others
from automations.situation import World
from domain.facts import Fact
from domain.moment_ranges import Window
from domain.reminder_plans import EARLIEST
from domain.rules import RuleState
from projections.projection import Recorded

PAGE = 500
"""Entities that are looked at together when the window begins."""

SLICE = timedelta(days=1)
"""How much of a stretch without facts is gone through in one transaction."""

A_MOMENT = timedelta(microseconds=1)

Progress = Callable[[int, int], None]
"""Is told how many events of how many were gone through."""


def unseen(done: int, total: int) -> None:
    """Show no progress."""


class Walk:
    """One walk along the log for a rehearsal, up to where the log ended when it began; not shared."""

    def __init__(
        self,
        log: EventLog,
        default_zone: str,
        rules: Sequence[RuleState],
        window: Window,
        on_time: timedelta,
        progress: Progress = unseen,
    ) -> None:
        self._log = log
        self._default_zone = default_zone
        self._window = window
        self._rehearsal = Rehearsal(rules, window, on_time)
        self._clock = PastClock()
        self._entities = PastEntities(log.mapper, self._clock)
        self._reached = window.up_to
        self._has_begun = False
        self._progress = progress

    def outcomes(self) -> Iterator[Rehearsed]:
        """Yield what comes of each candidate, in the order of their instants; read page by page."""
        with reading(self._log.engine) as connection:
            head = log_queries.head_position(connection)
        position = 0
        while position < head and self._clock.now <= self._window.up_to:
            with reading(self._log.engine) as connection:
                page = read_page(connection, self._log, position, up_to=head)
                found = list(self._page(page, connection))
            yield from found
            position = page.last
            self._entities.trim()
            self._rehearsal.forget_before(self._clock.now)
            self._progress(position, head)
        yield from self._rest()

    def _page(self, page: Page, connection: sa.Connection) -> Iterator[Rehearsed]:
        world = self._world(connection)
        self._clock.turn(page.last)
        if self._has_begun:
            world.prepare({fact.stream for fact in page.facts if self._rehearsal.looks_at(fact)})
        for entry in page.in_order:
            if isinstance(entry, SetAside):
                self._entities.set_aside(entry.error, entry.position)
            elif isinstance(entry.event, Fact):
                yield from self._fact(entry, entry.event, world, connection)
                if self._clock.now > self._window.up_to:
                    return

    def _fact(self, entry: Recorded, fact: Fact, world: World, connection: sa.Connection) -> Iterator[Rehearsed]:
        now = self._clock.move_to(fact, entry.position)
        if now > self._window.up_to:
            return
        if now > self._window.after:
            self._begin(world, connection)
            yield from self._move_to(now, world)
        self._entities.take(fact, entry.position)
        if self._has_begun:
            yield from self._rehearsal.take(fact, world, now)
            if moves_others(fact) and fact.version > 1:
                for streams in self._streams(connection):
                    self._rehearsal.look_again_at(streams)

    def _move_to(self, instant: datetime, world: World) -> Iterator[Rehearsed]:
        self._reached = instant
        yield from self._rehearsal.move_to(instant, world)

    def _rest(self) -> Iterator[Rehearsed]:
        """Yield what falls due between the last fact and the end of the window, a slice at a time."""
        if self._clock.now == EARLIEST:  # nothing was ever recorded
            return
        with reading(self._log.engine) as connection:
            self._begin(self._world(connection), connection)
        end = self._window.up_to + A_MOMENT
        while self._reached < end:
            with reading(self._log.engine) as connection:
                found = list(self._move_to(min(self._reached + SLICE, end), self._world(connection)))
            yield from found
            self._entities.trim()

    def _begin(self, world: World, connection: sa.Connection) -> None:
        """Look at all that is known when the window begins, once."""
        if self._has_begun:
            return
        self._has_begun = True
        self._reached = max(self._window.after, min(self._clock.now, self._window.up_to))
        for streams in self._streams(connection):
            world.prepare(streams)
            self._rehearsal.begin(streams, world)
            self._entities.trim()

    def _streams(self, connection: sa.Connection) -> Iterator[list[str]]:
        """Yield all entities that the rules look at, those too that are not known yet."""
        for kind in sorted(self._rehearsal.kinds):
            last = ""
            while streams := log_queries.streams_of_kind(connection, kind, last, PAGE):
                yield streams
                last = streams[-1]

    def _world(self, connection: sa.Connection) -> World:
        self._entities.over(connection)
        counts = PastCounts(connection, self._entities)
        return World(self._entities, StoredPersonalValues(connection), counts, self._default_zone)
