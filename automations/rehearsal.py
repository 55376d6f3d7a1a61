"""A rehearsal: what rules would have done over recorded history, without a claim or a call.

It is told what happened in the order of the log and judges each candidate, with the evaluators of real life, by
what was known at its instant. What a rule has done once is kept from repeating by its key, as in life.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from automations.agenda import Agenda
from automations.candidates import Candidate, Claim, Considered, Trace
from automations.clock_evaluator import ClockEvaluator
from automations.clock_rules import Due
from automations.evaluator import Evaluator
from automations.looking_ahead import candidate_of
from automations.planned_calls import PlannedCall, planned_calls
from automations.rulebook import RuleBook
from automations.situation import World
from automations.telling import told
from automations.verdicts import Verdict
from domain.errors import CorruptEvent
from domain.facts import Fact
from domain.ids import kind_of
from domain.moment_ranges import Window
from domain.rules import Rule, RuleState

Outcome = Literal["would run", "would not run", "kept", "missed", "skipped", "failed"]
"""What came of a candidate; what is `kept` from repeating had run already under its key."""


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What came of one candidate at an instant; `calls` are what its actions would have asked services for."""

    candidate: Candidate
    at: datetime
    outcome: Outcome
    reason: str = ""
    late: bool = False
    verdict: Verdict | None = None
    calls: tuple[PlannedCall, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as a run that never was, with its conditions and what would have been called."""
        return {
            "rule": self.candidate.rule.id,
            "version": self.candidate.rule.version,
            "trigger": self.candidate.rule.when,
            "entity": self.candidate.entity,
            "date": self.candidate.event_date,
            "key": self.candidate.key,
            "status": self.outcome,
            "at": self.at,
            "reason": self.reason,
            "late": self.late,
            "conditions": [reason.to_json() for reason in self.verdict.reasons] if self.verdict else [],
            "calls": [call.to_json() for call in self.calls],
        }


def rehearsed_rule(rule: Rule, version: int = 1) -> RuleState:
    """Return a rule as if it was saved and never enabled: a rehearsal enables it when its window begins."""
    return RuleState(0, version, rule, {version: rule})


class Rehearsal:
    """Rehearses rules over one window of history. `on_time` is how long after its due a run is not late.

    For each candidate a few bytes are remembered, and for each due time in the window that is known already.
    """

    def __init__(self, rules: Iterable[RuleState], window: Window, on_time: timedelta) -> None:
        self._book = RuleBook(replace(each, enabled=True, looks_ahead_from=window.after) for each in rules)
        self._window = window
        self._on_time = on_time
        self._evaluator = Evaluator(self._book)
        self._agenda = Agenda((each for each in self._book.on_clock() if not each.broken), window.up_to)
        self._told: dict[bytes, _Told] = {}
        self._watched: dict[str, dict[str, datetime]] = {}
        self._changed: set[str] = set()
        self._now = window.after

    @property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of entities of which the rules look at moments."""
        return self._agenda.kinds

    def looks_at(self, fact: Fact) -> bool:
        """Say whether any rule looks at the entity of such a fact."""
        return kind_of(fact.stream) in self.kinds or bool(self._book.waiting_for(fact.type))

    def begin(self, entities: Iterable[str], world: World) -> None:
        """Plan what lies ahead of the entities that are known when the window begins."""
        for entity in entities:
            self._looked(entity, world, self._window.after)

    def move_to(self, instant: datetime, world: World) -> Iterator[Rehearsed]:
        """Yield what comes of everything that falls due before an instant, by what is known before it.

        What changed at one instant is looked at again when the clock moves on: a tick would see all of it.
        """
        if instant > self._now:
            yield from self._look_again(world)
        while planned := self._agenda.next_before(instant):
            for due in self._agenda.due_at(planned, world) if self._is_readable(planned.entity, world) else ():
                yield from self._judged(due, world, planned.at, is_again=False)

    def take(self, fact: Fact, world: World, at: datetime) -> Iterator[Rehearsed]:
        """Yield what comes of a fact that the world knows by now, at the instant when it became known."""
        if at in self._window:
            considered = Considered()
            self._evaluator.consider(fact, world, at, considered)
            yield from self._outcomes(considered, world, at)
        self._changed |= self._affected(fact, at)
        self._now = at

    def look_again_at(self, entities: Iterable[str]) -> None:
        """Have entities looked at again when the clock moves on."""
        self._changed.update(entities)

    def _look_again(self, world: World) -> Iterator[Rehearsed]:
        changed, self._changed = sorted(self._changed), set()
        for entity in changed:
            for due in self._looked(entity, world, self._now):
                yield from self._judged(due, world, self._now, is_again=True)

    def forget_before(self, instant: datetime) -> None:
        """Let go of what is too late to match by then, whatever changes."""
        for reads, readers in list(self._watched.items()):
            kept = {entity: until for entity, until in readers.items() if until >= instant}
            if kept:
                self._watched[reads] = kept
            else:
                del self._watched[reads]

    def _affected(self, fact: Fact, at: datetime) -> set[str]:
        """Return the entities whose moments have to be looked at again after a fact."""
        readers = self._watched.get(fact.stream, {})
        affected = {entity for entity, until in readers.items() if until >= at}
        if kind_of(fact.stream) in self.kinds:
            affected.add(fact.stream)
        if moves_others(fact):
            affected |= self._agenda.entities
        return affected

    def _looked(self, entity: str, world: World, at: datetime) -> list[Due]:
        return self._agenda.look(entity, world, at) if self._is_readable(entity, world) else []

    @staticmethod
    def _is_readable(entity: str, world: World) -> bool:
        try:
            return world.entities.get(entity).known
        except CorruptEvent:  # in life it stands in a dossier
            return False

    def _judged(self, due: Due, world: World, at: datetime, *, is_again: bool) -> Iterator[Rehearsed]:
        told = self._told.get(_short(candidate_of(due).key))
        if is_again and told is not None and told.has_run:
            return
        considered = Considered()
        ClockEvaluator(world, at, self._on_time).consider(due, considered, first_look=not is_again)
        yield from self._outcomes(considered, world, at)

    def _outcomes(self, considered: Considered, world: World, at: datetime) -> Iterator[Rehearsed]:
        for trace in considered.traces:
            self._watch(trace)
            reason = trace.note or told(trace.verdict) or "the conditions say no"
            yield from self._once(Rehearsed(trace.candidate, at, "would not run", reason, verdict=trace.verdict))
        for claim in considered.claims:
            yield from self._once(self._claimed(claim, world, at))

    def _claimed(self, claim: Claim, world: World, at: datetime) -> Rehearsed:
        known = self._told.get(_short(claim.candidate.key))
        if known is not None and known.has_run:
            return Rehearsed(claim.candidate, at, "kept", f"ran already at {known.at:%Y-%m-%d %H:%M:%S} UTC")
        found = Rehearsed(claim.candidate, at, "would run", claim.reason, claim.late, claim.verdict)
        match claim.over:
            case None:
                return replace(found, calls=planned_calls(claim.candidate, world, at))
            case "missed" | "skipped" | "failed":
                return replace(found, outcome=claim.over)
            case other:
                raise AssertionError(f"a candidate is never {other} before it begins")

    def _once(self, found: Rehearsed) -> Iterator[Rehearsed]:
        """Yield an outcome, unless the same was said of the candidate before."""
        key = _short(found.candidate.key)
        if found.outcome == "kept":
            yield found
            return
        news = _Told(found.at, f"{found.outcome} {found.reason}", found.outcome in _BLOCKING)
        known = self._told.get(key)
        if known is None or not known.has_run:
            self._told[key] = news
        if known is None or known.said != news.said:
            yield found

    def _watch(self, trace: Trace) -> None:
        """Note that a change of what was read may still let a candidate match."""
        if trace.watched_until is None:
            return
        for stream in trace.reads:
            readers = self._watched.setdefault(stream, {})
            until = readers.get(trace.candidate.entity, trace.watched_until)
            readers[trace.candidate.entity] = max(until, trace.watched_until)


@dataclass(frozen=True, slots=True)
class _Told:
    """What was said last of a candidate, when, and whether its key is taken since."""

    at: datetime
    said: str
    has_run: bool


def moves_others(fact: Fact) -> bool:
    """Say whether a fact may move the moments of any entity, since it is about where they are."""
    return kind_of(fact.stream) in {"space", "resource"} and bool(_PLACING.intersection(fact.changed))


def _short(key: str) -> bytes:
    return bytes.fromhex(key)[:16]


_BLOCKING = frozenset({"would run", "failed"})
_PLACING = frozenset({"time_zone", "space_id"})
