"""The tick: what fell due since the last one is judged and claimed, page by page, the watermark with the last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

import sqlalchemy as sa

from adapters.database import pausing, returned_ids, watches, watermark
from adapters.database.claims import Claimed
from adapters.database.due_moments import grouped
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.judging import PageJudge
from adapters.database.lookout import Lookout
from adapters.database.looks import Look
from adapters.database.notices import tell_staff
from adapters.database.projecting import FOLLOWER as PROJECTIONS
from adapters.database.projecting import Projector
from adapters.database.tick_pages import Looks, TickPages
from adapters.database.unit_of_work import UnitOfWork, unit_of_work
from adapters.database.watermark import Standing
from automations.clock_jumps import Limits, Pause
from automations.outages import Tally
from automations.ports import Clock
from domain.moment_ranges import Window
from domain.moments import KINDS

LAG = 10
"""By how many ticks the stored watermark may lag behind while nothing happens; looking again is free."""


TIDYING = timedelta(hours=1)
"""How long what nobody needs any more may stay; it does no harm, but every tick has better things to do."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What one tick has found that it has to do."""

    standing: Standing
    look: Look
    pages: Looks
    is_paused: bool
    pause: Pause | None


class Ticker:
    """Looks at what fell due, for one worker; `interval` is how far apart ticks are.

    It looks after everything recorded so far: the projections catch up first.
    """

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        judge: PageJudge,
        projector: Projector,
        interval: timedelta,
        limits: Limits | None = None,
    ) -> None:
        self._log = log
        self._clock = clock
        self._interval = interval
        self._projector = projector
        self._lookout = Lookout(log.mapper)
        self._pages = TickPages(log.engine)
        self._judge = judge
        self._watch = pausing.ClockWatch(log, clock, limits or Limits())
        self._looked_until: datetime | None = None
        self._tidied: datetime | None = None
        self._is_back = True

    def tick(self) -> Iterator[Claimed]:
        """Return what each page claimed, to be run before the next one.

        Where the clock cannot be trusted any more, clock triggers pause, and staff are asked instead.
        """
        plan = self._planned(self._clock.now())
        if plan.pause is not None:
            pausing.begin(self._log, plan.pause, plan.look.now)
        if not plan.is_paused:
            yield from self._claimed(plan)
        self._is_back = plan.is_paused

    def sweep(self, window: Window) -> Iterator[Claimed]:
        """Look again at everything that was due in a window, by brute force; if all is well, nothing new is found."""
        now = self._clock.now()
        with reading(self._log.engine) as connection:
            groups = grouped(self._lookout.rules(connection))
            look = Look(now, max(now, watermark.stored(connection)))
        for kind in KINDS:
            for page in self._pages.everything(kind, groups, window.until(now)):
                yield self._judge.claim(page, look)

    # --- where to look ---

    def _planned(self, now: datetime) -> _Plan:
        with reading(self._log.engine) as connection:
            standing = watermark.standing(connection, PROJECTIONS)
            if not standing.is_behind:
                return self._plan(connection, standing, now)
        self._projector.catch_up(standing.head)
        with reading(self._log.engine) as connection:
            return self._plan(connection, watermark.standing(connection, PROJECTIONS), now)

    def _plan(self, connection: sa.Connection, standing: Standing, now: datetime) -> _Plan:
        look = Look(now, max(standing.looked_until, self._looked_until or standing.looked_until))
        pause = self._watch.look(connection, look.looked_until, self._lookout.rules)
        is_paused = pause is not None or standing.is_paused
        pages = iter(()) if is_paused else self._to_look_at(connection, standing, look)
        return _Plan(standing, look, pages, is_paused, pause)

    def _to_look_at(self, connection: sa.Connection, standing: Standing, look: Look) -> Looks:
        """Return where to look: nowhere, while nothing is due and nothing has changed."""
        ahead = self._lookout.ahead(connection, standing, look)
        parts = [self._pages.passed(rule, since, look) for rule, since in ahead.passed]
        if ahead.due is not None and ahead.due <= look.now:
            parts.append(self._pages.due(ahead.groups, look, ahead.search))
        if standing.has_second_looks:
            parts.append(self._pages.changed(ahead.groups, look))
        return chain.from_iterable(parts)

    # --- looking ---

    def _claimed(self, plan: _Plan) -> Iterator[Claimed]:
        tally = Tally(Window(plan.look.looked_until, plan.look.now))
        finish = partial(self._finish, plan=plan, tally=tally)
        page = next(plan.pages, None)
        if page is None:
            self._rest(plan)
        while page is not None:
            following = next(plan.pages, None)
            claimed = self._judge.claim(*page, finish if following is None else None)
            tally.add([*claimed.running, *claimed.over, *claimed.taken])
            yield claimed
            page = following
        self._looked_until = plan.look.horizon

    def _finish(self, work: UnitOfWork, claimed: Claimed, plan: _Plan, tally: Tally) -> None:
        """Move the watermark in the transaction of the last page; who was away tells staff what came of it."""
        tally.add([*claimed.running, *claimed.over, *claimed.taken])
        is_back = self._is_back or self._watch.jump > self._interval
        notice = tally.notice() if is_back and tally.is_of_an_outage(self._interval) else None
        self._move_watermark(work, plan)
        if notice is not None:
            tell_staff(work, notice, plan.look.now)

    def _rest(self, plan: _Plan) -> None:
        """Let the watermark lag behind while nothing happens, though not for ever."""
        now = plan.look.now
        since_tick = now - (self._looked_until or now)
        if now - plan.standing.looked_until >= LAG * max(self._interval, since_tick):
            with unit_of_work(self._log, "watermark") as work:
                self._move_watermark(work, plan)

    def _move_watermark(self, work: UnitOfWork, plan: _Plan) -> None:
        # While the clock is back, what was enabled since has still to be looked at up to the watermark.
        now = plan.look.now
        if now < plan.look.looked_until:
            return
        watermark.move(work.connection, now, plan.standing.head)
        if self._tidied is None or not timedelta() <= now - self._tidied < TIDYING:
            self._tidied = now
            watches.drop_over(work.connection, now)
            returned_ids.drop_over(work.connection, now)
