"""The due times of clock rules as history goes by: what lies ahead is planned, what has passed is given back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from heapq import heappop, heappush
from typing import NamedTuple

from automations.clock_rules import Due, due
from automations.looking_ahead import moments_from
from automations.rulebook import ReadyRule
from automations.situation import World
from domain.ids import kind_of
from domain.moments import REMINDER_DUE

STILL_USEFUL = timedelta(days=2)
"""For how long an occurrence of a reminder that was due may still run: its day, wherever that is."""


class Planned(NamedTuple):
    """When an entity has to be looked at for one rule, the number of which is its place among the rules."""

    at: datetime
    entity: str
    number: int


class Agenda:
    """What falls due for some rules up to the end of a window; entities are told of as they become known."""

    def __init__(self, rules: Iterable[ReadyRule], up_to: datetime) -> None:
        self._rules = tuple(rules)
        self._up_to = up_to
        self._ahead: list[Planned] = []
        self._waiting: set[Planned] = set()

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of entities that the rules look at."""
        return frozenset(_kind(rule) for rule in self._rules)

    @property
    def entities(self) -> set[str]:
        """Return the entities of which something lies ahead."""
        return {planned.entity for planned in self._waiting}

    def look(self, entity: str, world: World, now: datetime) -> list[Due]:
        """Plan what lies ahead of an entity from now on; return what was due before, as it is known now."""
        passed: list[Due] = []
        for number, rule in enumerate(self._rules):
            if _kind(rule) == kind_of(entity):
                passed += self._plan(number, rule, entity, world, now)
        return passed

    def next_before(self, instant: datetime) -> Planned | None:
        """Take out what is due next, if that is before an instant."""
        if not self._ahead or self._ahead[0].at >= instant:
            return None
        planned = heappop(self._ahead)
        self._waiting.discard(planned)
        return planned

    def due_at(self, planned: Planned, world: World) -> list[Due]:
        """Return what is due as planned, unless it moved meanwhile; what comes next of a reminder is planned."""
        rule, a_moment = self._rules[planned.number], timedelta(microseconds=1)
        since = planned.at - a_moment
        found = [each for each in self._dues(rule, planned.entity, world, planned.at, since) if each.at == planned.at]
        if rule.when == REMINDER_DUE:
            self._plan(planned.number, rule, planned.entity, world, planned.at + a_moment)
        return found

    def _plan(self, number: int, rule: ReadyRule, entity: str, world: World, now: datetime) -> list[Due]:
        passed: list[Due] = []
        for each in self._dues(rule, entity, world, now, now - STILL_USEFUL):
            if each.at < now:
                passed.append(each)
                continue
            self._add(Planned(each.at, entity, number))
            if rule.when == REMINDER_DUE:
                break  # the one after it is planned when this one is due
        return passed

    def _add(self, planned: Planned) -> None:
        if planned not in self._waiting:
            self._waiting.add(planned)
            heappush(self._ahead, planned)

    def _dues(self, rule: ReadyRule, entity: str, world: World, now: datetime, since: datetime) -> Iterator[Due]:
        """Yield what is due up to the end and not past; of a reminder what comes after an instant, in order."""
        for moment in moments_from(entity, rule.when, world, now, since):
            found = due(rule, moment)
            if found.at <= self._up_to:
                if not found.is_past:
                    yield found
            elif rule.when == REMINDER_DUE:
                return


def _kind(rule: ReadyRule) -> str:
    return rule.when.partition(".")[0]
