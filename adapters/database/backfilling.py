"""The past of a clock rule: counted before anybody decides, and run as a separate act.

It goes by the entities of the log and not by the index of moments, from which what is long past has gone.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from itertools import takewhile

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.claims import Claimed, ClaimWriter
from adapters.database.engine import reading
from adapters.database.evaluating import check_unchanged
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache, FreshEntities
from adapters.database.rules import StoredRules
from adapters.database.stored_executions import read_executions
from adapters.database.unit_of_work import retrying, unit_of_work
from adapters.database.worlds import world_over
from automations.backfill import Past, claim_of_past
from automations.candidates import Claim
from automations.clock_rules import Due, due
from automations.looking_ahead import moments_from
from automations.ports import Clock
from automations.rulebook import ReadyRule, is_clock
from domain.errors import CorruptEvent, InvalidInput
from domain.moment_ranges import Window
from domain.reminder_plans import EARLIEST
from domain.rules import RuleEvent, backfilled

PAGE = 500
"""Entities of one page."""


def whole_past(now: datetime) -> Window:
    """Return the window of everything that was due up to an instant."""
    return Window(EARLIEST, now)


class Backfill:
    """Goes through what was due for one rule in a window, entity by entity; not shared between threads."""

    def __init__(
        self, log: EventLog, clock: Clock, owner: str, default_zone: str, rule_id: str, window: Window
    ) -> None:
        self._log = log
        self._clock = clock
        self._default_zone = default_zone
        self._rule_id = rule_id
        self._window = window.until(clock.now())
        self._cache = EntityCache(log.mapper)
        self._rules = StoredRules(log.mapper)
        self._claims = ClaimWriter(log.mapper, owner)

    def counted(self, most: int | None = None) -> Past:
        """Return what there is, having looked at so many entities at most; nothing is written."""
        past, seen = Past(), 0
        for streams in self._streams():
            if most is not None and seen >= most:
                past.complete = False
                break
            seen += len(streams)
            with reading(self._log.engine) as connection:
                entities = self._cache.at_head(connection)
                claims = list(self._found(connection, entities, streams, past))
                keys = [claim.candidate.key for claim in claims]
                known = read_executions(connection, self._log.mapper, keys)
            for key in dict.fromkeys(keys):
                past.count(known.readable.get(key))
            self._cache.trim()
        return past

    def begin(self, found: int, by: str) -> list[RuleEvent]:
        """Record who has the past run, and how much was found; raises InvalidInput where the rule cannot run."""

        def attempt() -> list[RuleEvent]:
            with unit_of_work(self._log) as work:
                state = self._rules.at_head(work.connection).require(self._rule_id)
                window, at = self._window, self._clock.now()
                events = backfilled(state, after=window.after, up_to=window.up_to, found=found, at=at, by=by)
                work.append(events)
                return events

        return retrying(attempt, sleep=time.sleep)

    def claimed(self, by: str) -> Iterator[Claimed]:
        """Return what each page claimed, to be run before the next one; what ran already is kept from repeating."""
        for streams in self._streams():
            yield retrying(partial(self._claim, streams, by), sleep=time.sleep)
            self._cache.trim()

    def _claim(self, streams: list[str], by: str) -> Claimed:
        now = self._clock.now()
        with reading(self._log.engine) as connection:
            entities = self._cache.at_head(connection)
            claims = list(self._found(connection, entities, streams, Past(), by))
        if not claims:
            return Claimed()
        with unit_of_work(self._log) as work:
            claimed = self._claims.write(work, claims, now, entities.position)
            work.flush()
            check_unchanged(work.connection, entities, work.positions)
        return claimed

    def _streams(self) -> Iterator[list[str]]:
        """Yield the streams of the rule's kind of entity, page by page."""
        with reading(self._log.engine) as connection:
            kind, last = self._kind(connection), ""
        while True:
            with reading(self._log.engine) as connection:
                streams = log_queries.streams_of_kind(connection, kind, last, PAGE)
            if not streams:
                return
            yield streams
            last = streams[-1]

    def _kind(self, connection: sa.Connection) -> str:
        rule = self._rule(connection)
        if not is_clock(rule.when):
            raise InvalidInput(
                f"{rule.id} is started by {rule.when}: only what a clock starts has a past that can be run"
            )
        return rule.when.partition(".")[0]

    def _rule(self, connection: sa.Connection) -> ReadyRule:
        book = self._rules.at_head(connection)
        book.require(self._rule_id)
        rule = book.ready(self._rule_id)
        assert rule is not None
        return rule

    def _found(
        self, connection: sa.Connection, entities: FreshEntities, streams: list[str], past: Past, by: str = ""
    ) -> Iterator[Claim]:
        """Yield a claim for everything that was due in the window and matches by the facts as they are."""
        rule = self._rule(connection)
        world = world_over(connection, entities, self._default_zone)
        world.prepare(streams)
        now = self._clock.now()
        for stream in streams:
            try:
                moments = moments_from(stream, rule.when, world, now, self._window.after)
                for each in self._in_window(due(rule, moment) for moment in moments):
                    past.looked_at += 1
                    claim = claim_of_past(each, world, now=now, by=by)
                    if claim is not None:
                        yield claim
            except CorruptEvent:
                continue

    def _in_window(self, dues: Iterable[Due]) -> Iterator[Due]:
        # Those of a reminder come in order and without an end; of others there is one.
        return (each for each in takewhile(lambda each: each.at <= self._window.up_to, dues) if each.at in self._window)
