"""Events become candidates, candidates get a verdict, and what matches is to be claimed.

Nothing here remembers anything: looking again at the same events gives the same claims, and the dedupe
key makes the second look free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import structlog

from automations.candidates import Candidate, Claim, Considered, Trace
from automations.rulebook import RuleBook
from automations.situation import Situation, World
from automations.telling import told, told_error
from automations.verdicts import Truth
from domain.errors import Conflict, Unavailable
from domain.facts import Fact
from domain.ids import id_of

LONGEST_CHAIN = 5
"""Executions that may cause one another before the chain is cut (semantics 7)."""

logger = structlog.get_logger(__name__)


class Evaluator:
    """Looks at facts with the rules of one rule book."""

    def __init__(self, rules: RuleBook) -> None:
        self._rules = rules

    def prepare(self, facts: Iterable[Fact], world: World) -> None:
        """Load what the rules of these facts will look at."""
        world.prepare({fact.stream for fact in facts if self._rules.waiting_for(fact.type)})

    def consider(self, fact: Fact, world: World, at: datetime, considered: Considered) -> None:
        """Add what comes of one fact, under the rules as they are at its place in the log."""
        look = _Look(fact, world, at)
        for rule in self._rules.waiting_for(fact.type):
            candidate = Candidate(rule, fact.stream, fact.event_date, event=fact)
            considered.add(safely(candidate, partial(_judged, candidate, look)))


def safely(candidate: Candidate, judge: Callable[[], Claim | Trace | None]) -> Claim | Trace | None:
    """Return a candidate's judgement; whatever goes wrong with it is its own, and ends in the dossier.

    Only a database that is away, or not up to date, is nobody's: then the whole batch is judged again.
    """
    try:
        return judge()
    except (Conflict, Unavailable):
        raise
    except Exception as error:
        logger.exception("candidate.failed", rule=candidate.rule.id, entity=candidate.entity)
        return Claim.failed(candidate, "facts", f"could not be evaluated: {told_error(error)}")


@dataclass(slots=True)
class _Look:
    """What all rules that one fact starts see, made when the first of them asks."""

    fact: Fact
    world: World
    at: datetime
    _situation: Situation | None = None

    def situation(self) -> Situation:
        if self._situation is None:
            self._situation = self.world.situation(self.fact.stream, self.at, self.fact)
        return self._situation


def _judged(candidate: Candidate, look: _Look) -> Claim | Trace:
    rule = candidate.rule
    if rule.broken:
        return Claim.failed(candidate, "rule", f"the rule is broken: {rule.broken}")
    chain = candidate.cause.rules if candidate.cause else ()
    if rule.id in chain:
        return Trace(candidate, note="its own echo: this rule already ran in the chain of causes")
    situation = look.situation()
    verdict = rule.judge(situation, brief=True)
    if not verdict.matches and verdict.truth is not Truth.FAULT:
        return Trace(candidate, verdict)
    member = member_of(situation)
    if verdict.truth is Truth.FAULT:
        return Claim.failed(candidate, "conditions", f"could not be decided: {told(verdict)}", verdict, member)
    if len(chain) >= LONGEST_CHAIN:
        return Claim.failed(candidate, "chain", f"cut: {' → '.join(chain)} caused one another", verdict, member)
    if _too_old(candidate, situation):
        return Claim(candidate, verdict, over="missed", reason="came later than its limit", late=True)
    return Claim(candidate, verdict, member=member)


def _too_old(candidate: Candidate, situation: Situation) -> bool:
    """Say whether an event is older than the rule's limit; exactly at the limit it still runs."""
    limit = candidate.rule.rule.give_up_after
    if limit is None or candidate.event is None:
        return False
    return situation.at > limit.after(candidate.event.time, situation.zone)


def member_of(situation: Situation) -> str:
    """Return the member whom an entity is about, empty where there is none."""
    if situation.root.noun.kind == "member":
        return id_of(situation.root.stream)
    return str(situation.root.get("member_id") or "")
