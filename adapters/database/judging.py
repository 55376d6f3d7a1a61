"""One page of moments is judged and claimed, in one transaction, by facts that are those of the log's head."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from adapters.database import traces, watches
from adapters.database.claims import Claimed, ClaimWriter
from adapters.database.engine import reading
from adapters.database.evaluating import check_unchanged
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache, FreshEntities
from adapters.database.looks import Look, Page
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from adapters.database.worlds import world_over
from adapters.memory import uncollected
from automations.candidates import Considered
from automations.clock_evaluator import ClockEvaluator
from automations.clock_rules import Due
from automations.situation import World
from domain.errors import CorruptEvent
from domain.moments import Moment, next_reminder_moment
from projections.moments import replace_moments

Finish = Callable[[UnitOfWork, Claimed], None]
"""What is done in the transaction of a tick's last page, once it is known what that has claimed."""


@dataclass(slots=True)
class _Judged:
    """What came of a page: claims and traces, what has to be looked at again later, and reminders' next moments."""

    considered: Considered = field(default_factory=Considered)
    waiting: set[str] = field(default_factory=set)
    ahead: list[Moment] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Say whether nothing was found."""
        return not self.considered.claims and not self.considered.traces


class PageJudge:
    """Judges pages for one worker; `interval` is how far apart ticks are."""

    def __init__(
        self, log: EventLog, owner: str, default_zone: str, interval: timedelta, cache: EntityCache | None = None
    ) -> None:
        self._log = log
        self._default_zone = default_zone
        self._interval = interval
        self._cache = cache or EntityCache(log.mapper)
        self._claims = ClaimWriter(log.mapper, owner)

    def claim(self, page: Page, look: Look, finish: Finish | None = None) -> Claimed:
        """Claim what is due on a page; where another transaction is in the way, everything is done anew."""
        with uncollected():
            return retrying(lambda: self._attempt(page, look, finish), sleep=time.sleep)

    def _attempt(self, page: Page, look: Look, finish: Finish | None) -> Claimed:
        with reading(self._log.engine) as connection:
            entities = self._cache.at_head(connection)
            judged = self._judged(page, world_over(connection, entities, self._default_zone), look)
        claimed = Claimed()
        if finish or page.looked_at or page.rolled or not judged.is_empty:
            with unit_of_work(self._log, "tick") as work:
                claimed = self._write(work, page, look, judged, entities)
                if finish:
                    finish(work, claimed)
        claimed.candidates = judged.considered.candidates
        self._cache.trim()
        return claimed

    def _judged(self, page: Page, world: World, look: Look) -> _Judged:
        evaluator, judged = ClockEvaluator(world, look.now, self._interval), _Judged()
        for each in sorted(page.dues(world, look), key=_due_order):
            if each.at <= look.now:
                evaluator.consider(each, judged.considered, first_look=look.is_first(each.at))
            else:
                judged.waiting.add(each.moment.entity)  # ticks have looked that far, and will not come back
        judged.ahead = _next_of_reminders(page, world, look)
        return judged

    def _write(self, work: UnitOfWork, page: Page, look: Look, judged: _Judged, entities: FreshEntities) -> Claimed:
        found = judged.considered
        traces.write(work.connection, found.traces, look.now)
        watched = watches.watch(work.connection, found.traces, look.now)
        watches.looked_at(work.connection, [entity for entity in page.looked_at if entity not in judged.waiting])
        if rolled := page.rolled:
            replace_moments(work.connection, list(rolled), judged.ahead)
        claimed = self._claims.write(work, found.claims, look.now, entities.position)
        work.flush()
        if work.positions or watched or page.looked_at or rolled:
            # What changes from here on comes after this in the log, and finds what is written here.
            check_unchanged(work.connection, entities, work.positions or [work.lock_head() + 1])
        return claimed


def _due_order(due: Due) -> tuple[object, ...]:
    return due.at, due.moment.entity, due.rule.id


def _next_of_reminders(page: Page, world: World, look: Look) -> list[Moment]:
    """Return the next moment of each reminder that was looked at now: the index holds one at a time."""
    found = (_next_of(reminder, world, look.horizon) for reminder in page.rolled)
    return [moment for moment in found if moment is not None]


def _next_of(reminder: str, world: World, after: datetime) -> Moment | None:
    find = world.entities.get
    try:
        return next_reminder_moment(find(reminder), find, world.default_zone, after)
    except CorruptEvent:  # its stream stands still, and has a dossier
        return None
