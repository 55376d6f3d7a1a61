"""What a tick would do now, rule by rule, without doing it: what staff see before they let it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

import sqlalchemy as sa

from adapters.database import log_queries, watches, watermark
from adapters.database.claims import refusal
from adapters.database.due_moments import PAGE, DuePages, Found, Group, grouped
from adapters.database.earlier_runs import EarlierRuns
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache
from adapters.database.looks import Again, InWindow, Look
from adapters.database.rules import StoredRules
from adapters.database.stored_executions import read_executions
from adapters.database.worlds import world_over
from automations.candidates import Claim, Considered
from automations.clock_evaluator import ClockEvaluator
from automations.outages import Expected
from domain.moment_ranges import Window
from domain.moments import REMINDER_DUE

SLICE = timedelta(hours=6)
"""How much of a long window is asked for in one go."""


class Forecast:
    """Looks at everything that a tick would look at; nothing is written, called or claimed."""

    def __init__(self, log: EventLog, now: datetime, default_zone: str, interval: timedelta) -> None:
        self._log = log
        self._now = now
        self._default_zone = default_zone
        self._interval = interval
        self._cache = EntityCache(log.mapper)
        self._seen: set[str] = set()
        self._expected: dict[str, Expected] = {}

    def expected(self) -> list[Expected]:
        """Return what the next tick would come to for each rule of which something is due, by id."""
        with reading(self._log.engine) as connection:
            look = Look(self._now, watermark.stored(connection))
            groups = grouped(StoredRules(self._log.mapper).at_head(connection).on_clock())
        for page in self._pages(groups, look):
            with reading(self._log.engine) as connection:
                self._count(connection, page, look)
            self._cache.trim()
        return [self._expected[rule] for rule in sorted(self._expected)]

    def _pages(self, groups: list[Group], look: Look) -> Iterator[InWindow | Again]:
        yield from self._by_index([group for group in groups if group.trigger != REMINDER_DUE], look)
        yield from self._by_calendar([group for group in groups if group.trigger == REMINDER_DUE], look)
        yield from self._again(groups)

    def _by_index(self, groups: list[Group], look: Look) -> Iterator[InWindow]:
        start = look.looked_until
        while groups and start < look.now:
            window = Window(start, min(start + SLICE, look.now))
            pages, start = DuePages(groups, window), window.up_to
            while found := self._next(pages):
                yield InWindow(tuple(found), window)

    def _next(self, pages: DuePages) -> list[Found]:
        with reading(self._log.engine) as connection:
            return pages.next(connection)

    def _by_calendar(self, groups: list[Group], look: Look) -> Iterator[InWindow]:
        """Yield every reminder: of those the index holds the next moment only."""
        last = ""
        while groups and look.looked_until < look.now:
            with reading(self._log.engine) as connection:
                streams = log_queries.streams_of_kind(connection, "reminder", last, PAGE)
            if not streams:
                return
            last = streams[-1]
            found = tuple(Found(group, stream) for stream in streams for group in groups)
            yield InWindow(found, Window(look.looked_until, look.now))

    def _again(self, groups: list[Group]) -> Iterator[Again]:
        last = ""
        while True:
            with reading(self._log.engine) as connection:
                entities = watches.to_look_at(connection, last, PAGE)
            if not entities:
                return
            last = entities[-1]
            yield Again(tuple(entities), tuple(groups))

    def _count(self, connection: sa.Connection, page: InWindow | Again, look: Look) -> None:
        entities = self._cache.at_head(connection)
        world = world_over(connection, entities, self._default_zone)
        evaluator, considered = ClockEvaluator(world, look.now, self._interval), Considered()
        for each in page.dues(world, look):
            if each.at <= look.now:
                evaluator.consider(each, considered, first_look=look.is_first(each.at))
        for claim in self._new(connection, considered.claims):
            rule = claim.candidate.rule.id
            self._expected.setdefault(rule, Expected(rule)).count(claim)

    def _new(self, connection: sa.Connection, claims: Iterable[Claim]) -> Iterator[Claim]:
        """Yield the claims that nobody has made yet, each once."""
        wanted = {claim.candidate.key: claim for claim in claims if claim.candidate.key not in self._seen}
        self._seen |= wanted.keys()
        known = read_executions(connection, self._log.mapper, wanted)
        earlier = EarlierRuns(connection, self._log.mapper)
        for key, claim in wanted.items():
            if key not in known.unreadable and not refusal(claim, known.readable.get(key), earlier):
                yield claim
