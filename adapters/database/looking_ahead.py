"""What will run: the due times ahead of an entity, or of a rule, and what speaks against each as facts are now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import count, islice

import sqlalchemy as sa

from adapters.database import watermark
from adapters.database.due_moments import grouped
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.event_mapper import EventMapper
from adapters.database.facts import EntityCache
from adapters.database.moments_ahead import Coming, coming
from adapters.database.rules import StoredRules
from adapters.database.stored_executions import read_executions
from adapters.database.worlds import world_over
from automations.clock_rules import Due, due
from automations.looking_ahead import Ahead, foreseen, moments_from, with_execution
from automations.rulebook import ReadyRule, is_clock
from domain.errors import CorruptEvent, InvalidInput
from domain.ids import kind_of

NEXT = 10
"""How many due times ahead are shown where nobody says how many."""

MOST_LOOKED_AT = 2_000
"""Due times that are looked at to find those of a rule that will run."""

PAGE = 100

STILL_USEFUL = timedelta(days=2)
"""For how long an occurrence of a reminder that was due may still run: its day, wherever that is."""


class LookAhead:
    """Looks ahead over one reading transaction, from one instant; nothing is written or called."""

    def __init__(self, connection: sa.Connection, mapper: EventMapper, default_zone: str, now: datetime) -> None:
        self._connection = connection
        self._mapper = mapper
        self._now = now
        self._rules = StoredRules(mapper).at_head(connection)
        self._entities = EntityCache(mapper).at_head(connection)
        self._world = world_over(connection, self._entities, default_zone)

    def of_entity(self, entity: str, most: int = NEXT) -> list[Ahead]:
        """Return when the enabled clock rules are due for an entity, the next first.

        Of a reminder that comes round again and again, so many occurrences are looked at. What has been due
        already is in it only if the next tick will run it.
        """
        enabled = [rule for rule in self._rules.on_clock() if rule.state.runs]
        kind = kind_of(entity)
        about = [rule for rule in enabled if rule.trigger is None or kind == rule.trigger.KIND]
        found = self._unless_done(ahead for rule in about for ahead in self._of(entity, rule, most))
        return sorted(found, key=lambda ahead: (ahead.at, ahead.rule))

    def of_rule(self, rule_id: str, most: int = NEXT, *, whatever: bool = False) -> list[Ahead]:
        """Return when a clock rule will run next, over all entities; with `whatever` also where it will not.

        Raises InvalidInput for a rule that no clock starts, or that there is not.
        """
        self._rules.require(rule_id)
        rule = self._rules.ready(rule_id)
        assert rule is not None
        if not is_clock(rule.when):
            raise InvalidInput(f"{rule_id} is started by {rule.when}: nobody knows when that will happen next")
        looked_at = islice(self._in_order(rule), MOST_LOOKED_AT)
        return list(islice((ahead for ahead in looked_at if whatever or ahead.will_run), most))

    def _in_order(self, rule: ReadyRule) -> Iterator[Ahead]:
        """Yield what is ahead of a rule in the order of falling due, reading pages as they are asked for."""
        (group,) = grouped([rule])
        since = min(self._now, watermark.stored(self._connection))
        entries = coming(self._connection, group, since)
        later: list[tuple[datetime, int, Ahead]] = []
        numbers = count()
        while page := list(islice(entries, PAGE)):
            for ahead in self._page(rule, page):
                heappush(later, (ahead.at, next(numbers), ahead))
            # Behind the end of the page the next one may have something that comes before.
            while later and later[0][0] <= page[-1].at:
                yield heappop(later)[2]
        while later:
            yield heappop(later)[2]

    def _page(self, rule: ReadyRule, page: list[Coming]) -> list[Ahead]:
        entities = list(dict.fromkeys(each.entity for each in page))
        self._world.prepare(entities)
        readable = filter(self._is_readable, entities)
        return self._unless_done(ahead for entity in readable for ahead in self._of(entity, rule, NEXT))

    def _of(self, entity: str, rule: ReadyRule, most: int) -> Iterator[Ahead]:
        """Yield what is ahead of one entity and rule, or has been due not too long ago."""
        moments = moments_from(entity, rule.when, self._world, self._now, self._now - STILL_USEFUL)
        dues = (due(rule, moment) for moment in moments)
        wanted = (each for each in dues if not each.is_past and self._is_useful(each))
        return (foreseen(each, self._world) for each in islice(wanted, most))

    def _is_useful(self, due: Due) -> bool:
        return due.at > self._now or (not due.rule.broken and self._now <= due.limit)

    def _is_readable(self, entity: str) -> bool:
        try:
            return self._entities.get(entity).known
        except CorruptEvent:
            return False

    def _unless_done(self, found: Iterable[Ahead]) -> list[Ahead]:
        """Return what is ahead with what was done already, and of what has been due what will still run."""
        listed = list(found)
        known = read_executions(self._connection, self._mapper, {ahead.candidate.key for ahead in listed})
        told = [with_execution(ahead, known.readable.get(ahead.candidate.key)) for ahead in listed]
        return [ahead for ahead in told if ahead.at > self._now or ahead.will_run]


@contextmanager
def looking_ahead(log: EventLog, default_zone: str, now: datetime) -> Iterator[LookAhead]:
    """Hold a look ahead over the log as it is now."""
    with reading(log.engine) as connection:
        yield LookAhead(connection, log.mapper, default_zone, now)
