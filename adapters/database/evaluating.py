"""The follower that evaluates: facts become candidates, claims and traces, a transaction for each batch."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa

from adapters.database import log_queries, set_aside, traces, watches
from adapters.database.claims import Claimed, ClaimWriter
from adapters.database.contradicting import contradictions
from adapters.database.counts import ProjectedCounts
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache, FreshEntities
from adapters.database.follower import Page, PageReader
from adapters.database.held_deliveries import look_again_after
from adapters.database.projecting import FOLLOWER as PROJECTIONS
from adapters.database.rules import StoredRules
from adapters.database.set_aside import SetAside
from adapters.database.unit_of_work import unit_of_work
from adapters.database.worlds import world_over
from automations.candidates import Considered
from automations.evaluator import Evaluator
from automations.ports import Clock
from domain.errors import Conflict, CorruptEvent
from domain.facts import Fact
from domain.rules import RuleEvent

FOLLOWER = "evaluator"


@dataclass(slots=True)
class Evaluated:
    """What came of a batch: how many events it held, and the claims."""

    events: int = 0
    claimed: Claimed = field(default_factory=Claimed)


class EvaluatingFollower:
    """Evaluates the log with the rules as they were at each event, and the facts as they are now.

    It never reads beyond the projections, so that what they count is no older than the event.
    """

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        owner: str,
        default_zone: str,
        *,
        cache: EntityCache | None = None,
        pages: PageReader | None = None,
    ) -> None:
        self._log = log
        self._clock = clock
        self._default_zone = default_zone
        self._cache = cache or EntityCache(log.mapper)
        self._pages = pages or PageReader(log)
        self._rules = StoredRules(log.mapper)
        self._claims = ClaimWriter(log.mapper, owner)

    def follow(self) -> Evaluated:
        """Evaluate one batch. Raises Conflict if somebody else was faster: then do it again."""
        try:
            evaluated = self._follow()
        except Conflict:
            self._pages.shorten()
            raise
        self._pages.lengthen()
        return evaluated

    def _follow(self) -> Evaluated:
        at = self._clock.now()
        with reading(self._log.engine) as connection:
            position = log_queries.tracked_position(connection, FOLLOWER)
            page = self._pages.read(connection, position, log_queries.tracked_position(connection, PROJECTIONS))
            if not page.events:
                return Evaluated()
            entities = self._cache.at_head(connection)
            considered = self._consider(connection, entities, page, at)
            hints = contradictions(connection, self._log.mapper, entities, page, at)
        with unit_of_work(self._log, "evaluate") as work:
            work.track(FOLLOWER, page.last, after=page.after)
            set_aside.write(work.connection, page.set_aside, at)
            traces.write(work.connection, considered.traces, at)
            watches.changed(work.connection, list(dict.fromkeys(fact.stream for fact in page.facts)))
            look_again_after(work.connection, page.facts)
            claimed = self._claims.write(work, considered.claims, at, entities.position)
            work.append(hints)
            work.flush()
            check_unchanged(work.connection, entities, work.positions)
        self._cache.trim()
        claimed.candidates = considered.candidates
        return Evaluated(page.events, claimed)

    def _consider(self, connection: sa.Connection, entities: FreshEntities, page: Page, at: datetime) -> Considered:
        evaluator = Evaluator(self._rules.move_to(connection, page.after))
        world = world_over(connection, entities, self._default_zone, ProjectedCounts(connection, entities))
        considered, prepared, left = Considered(), False, deque(page.facts)
        for entry in page.in_order:
            found = entry.error if isinstance(entry, SetAside) else entry.event
            if isinstance(found, Fact):
                if not prepared:
                    evaluator.prepare(left, world)  # all at once, for as long as no rule changes
                    prepared = True
                left.popleft()
                evaluator.consider(found, world, at, considered)
            elif isinstance(found, RuleEvent | CorruptEvent):
                self._rules.take_over(found, entry.position)
                prepared = False
        return considered


def check_unchanged(connection: sa.Connection, entities: FreshEntities, positions: list[int]) -> None:
    """Refuse to commit claims whose facts changed between the reading and the claiming (semantics 4)."""
    if not positions or positions[0] == entities.position + 1:
        return
    touched = log_queries.touched_between(connection, entities.position, positions[0] - 1)
    if changed := touched & entities.reads:
        raise Conflict(f"{len(changed)} entities changed while they were evaluated, {min(changed)} among them")
