"""Looking ahead: when clock rules will be due, and whether they would run as facts are now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from automations.candidates import Candidate
from automations.clock_rules import Due
from automations.situation import World
from automations.telling import told
from automations.verdicts import Truth
from domain.errors import CorruptEvent
from domain.executions import Execution
from domain.moments import REMINDER_DUE, Moment, moments_of, reminder_moments
from domain.reminder_plans import LATEST


@dataclass(frozen=True, slots=True)
class Ahead:
    """A due time that has not come yet, or that the next tick will find; `reason` says why nothing will run."""

    due: Due
    reason: str = ""

    @property
    def at(self) -> datetime:
        """Return the instant at which the rule is due."""
        return self.due.at

    @property
    def entity(self) -> str:
        """Return the entity that it is about."""
        return self.due.moment.entity

    @property
    def rule(self) -> str:
        """Return the id of the rule."""
        return self.due.rule.id

    @property
    def date(self) -> date:
        """Return the event date."""
        return self.due.moment.day

    @property
    def will_run(self) -> bool:
        """Say whether it will run, if nothing changes until then."""
        return not self.reason

    @property
    def candidate(self) -> Candidate:
        """Return the candidate that the tick will find then."""
        return candidate_of(self.due)

    def to_json(self) -> dict[str, Any]:
        """Return it as a run that has not been yet."""
        return {
            "rule": self.rule,
            "version": self.due.rule.version,
            "trigger": self.due.rule.when,
            "entity": self.entity,
            "date": self.date,
            "key": self.candidate.key,
            "status": "will run" if self.will_run else "will not run",
            "at": self.at,
            "reason": self.reason,
        }


def candidate_of(due: Due) -> Candidate:
    """Return the candidate that a due moment stands for."""
    return Candidate(due.rule, due.moment.entity, due.moment.day, due=due.at, moment=due.moment)


def moments_from(stream: str, trigger: str, world: World, now: datetime, since: datetime) -> Iterator[Moment]:
    """Yield the moments that an entity has for a trigger, of a reminder those after an instant.

    These come in order, and may have no end.
    """
    entity = world.entities.get(stream)
    if trigger == REMINDER_DUE:
        yield from reminder_moments(entity, world.entities.get, world.default_zone, since, LATEST)
        return
    found = moments_of(entity, world.entities.get, world.default_zone)
    yield from (moment for moment in found if moment.trigger == trigger)


def foreseen(due: Due, world: World) -> Ahead:
    """Return what will come of a due moment if facts stay as they are."""
    return Ahead(due, _obstacle(due, world))


def with_execution(ahead: Ahead, known: Execution | None) -> Ahead:
    """Return the same, where an execution under its key may be in the way."""
    if known is None or known.rearmable or not ahead.will_run:
        return ahead
    return replace(ahead, reason=f"already {known.status} on {known.claim.event_date}")


def _obstacle(due: Due, world: World) -> str:
    if due.rule.broken:
        return f"the rule is broken: {due.rule.broken}"
    if due.became_known_late and due.rule.rule.when_late == "skip":
        return "the lead time was already past"
    return readable(lambda: what_speaks_against(due, world))


def what_speaks_against(due: Due, world: World) -> str:
    """Return the condition or state that keeps a due moment from running, or nothing if it may run."""
    assert due.rule.trigger is not None
    situation = world.situation(due.moment.entity, due.at)
    unwanted = due.rule.trigger.still_wanted(situation)
    if unwanted:
        return unwanted
    verdict = due.rule.judge(situation)
    if verdict.truth is Truth.FAULT:
        return f"could not be decided: {told(verdict)}"
    return "" if verdict.matches else told(verdict) or "the conditions say no"


def readable(judge: Callable[[], str]) -> str:
    """Return a judgement, or that an entity it needs cannot be read."""
    try:
        return judge()
    except CorruptEvent as error:
        return f"cannot be read: {error}"
