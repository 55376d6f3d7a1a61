"""Moments that fell due become claims or traces; facts that only time changes are those of the due instant."""

from __future__ import annotations

from datetime import datetime, timedelta

from automations.candidates import Candidate, Claim, Considered, Trace
from automations.clock_rules import Due
from automations.evaluator import member_of, safely
from automations.situation import World
from automations.telling import told
from automations.verdicts import Truth, Verdict

MISSED_WHILE_DISABLED = "missed while the rule was disabled"
"""The reason of what fell due for a rule that was switched off."""


class ClockEvaluator:
    """Judges what is due at the instant of one tick. `on_time` is how long after its due a run is not late."""

    def __init__(self, world: World, at: datetime, on_time: timedelta) -> None:
        self._world = world
        self._at = at
        self._on_time = on_time

    def consider(self, due: Due, considered: Considered, *, first_look: bool) -> None:
        """Add what comes of one due moment; a first look also records what came too late."""
        candidate = Candidate(due.rule, due.moment.entity, due.moment.day, due=due.at, moment=due.moment)
        considered.add(safely(candidate, lambda: self._judged(candidate, due, first_look)))

    def _judged(self, candidate: Candidate, due: Due, first_look: bool) -> Claim | Trace | None:
        if due.is_past:
            return None
        if due.rule.broken and not due.rule.state.enabled:
            return None
        if due.rule.broken:
            return Claim.failed(candidate, "rule", f"the rule is broken: {due.rule.broken}")
        assert due.rule.trigger is not None
        too_late = self._at > due.limit
        if too_late and not first_look and due.moment.known_at <= due.limit:
            return None
        situation = self._world.situation(candidate.entity, due.at)
        unwanted = due.rule.trigger.still_wanted(situation)
        verdict = due.rule.judge(situation)
        if unwanted or not (verdict.matches or verdict.truth is Truth.FAULT):
            reads = frozenset(situation.reads)
            return Trace(candidate, verdict, note=unwanted or "", reads=reads, watched_until=due.limit)
        if verdict.truth is Truth.FAULT:
            reason = f"could not be decided: {told(verdict)}"
            return Claim.failed(candidate, "conditions", reason, verdict, member_of(situation))
        return self._claimed(candidate, due, verdict, too_late, member_of(situation))

    def _claimed(self, candidate: Candidate, due: Due, verdict: Verdict, too_late: bool, member: str) -> Claim:
        late = self._at - due.at > self._on_time
        if not due.rule.state.enabled:
            return Claim(candidate, verdict, over="missed", reason=MISSED_WHILE_DISABLED, late=late, member=member)
        if due.became_known_late and due.rule.rule.when_late == "skip":
            reason = "the lead time was already past"
            return Claim(candidate, verdict, over="skipped", reason=reason, late=late, member=member)
        if too_late:
            reason = f"came later than its limit, {due.limit:%Y-%m-%d %H:%M:%S} UTC"
            return Claim(candidate, verdict, over="missed", reason=reason, late=True, member=member)
        return Claim(candidate, verdict, late=late, member=member)
