"""The check right before each action: is what the rule was claimed for still so?

An execution keeps the wording that claimed it for *what* it does; the rule as it is now decides *whether*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from automations.lanes import Lane
from automations.rulebook import ReadyRule
from automations.situation import Situation, World
from automations.telling import told
from automations.triggers import triggers
from automations.verdicts import Truth, Verdict
from domain.executions import Execution, Status, occasion_of
from domain.facts import Fact
from domain.moment_ranges import Window
from domain.moments import Moment
from domain.rules import Rule


@dataclass(frozen=True, slots=True)
class Look:
    """What a re-check sees, no older than the log's head.

    That is the facts, the rule, the event that started it, and the lane of each service.
    """

    world: World
    rule: ReadyRule | None
    event: Fact | None = None
    lane: Callable[[str], Lane] = Lane

    def situation(self, execution: Execution, now: datetime) -> Situation:
        """Return the facts about the execution's entity; what only time changes is that of the due instant."""
        return self.world.situation(execution.claim.entity, execution.occurrence.due or now, self.event)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an execution ends before its next action, with the values that say so; `ending` classes a failure."""

    status: Status
    reason: str
    verdict: Verdict | None = None
    ending: str = ""


def recheck(execution: Execution, look: Look, situation: Situation, now: datetime) -> Stop | None:
    """Return why the next action must not be called, or None if it may."""
    if execution.claim.origin == "staff":
        return None
    rule = look.rule
    if rule is None or rule.state.archived:
        return Stop("cancelled", "the rule is archived")
    if execution.checks != "all":
        return _retry_stop(execution, rule, situation, now)
    return _rule_stop(execution, rule) or _state_stop(execution, rule, look, situation, now)


def _retry_stop(execution: Execution, rule: ReadyRule, situation: Situation, now: datetime) -> Stop | None:
    """Return why what staff asked for must not be called.

    They decided that it is to be done; so what is asked is only whether anybody still needs it, and whether the
    conditions hold where nobody could say so before.
    """
    trigger = triggers.get(execution.claim.trigger)
    unwanted = trigger.still_wanted(situation) if trigger is not None else None
    if unwanted is None and _is_over(execution, situation, now):
        unwanted = "the booking is over"
    if unwanted:
        return Stop("skipped", f"no longer needed ({unwanted})")
    if execution.checks == "wanted":
        return None
    return _broken(rule) or _conditions_stop(rule, situation)


def _rule_stop(execution: Execution, rule: ReadyRule) -> Stop | None:
    if not rule.state.enabled:
        return Stop("skipped", "no longer matches (the rule is disabled)")
    if rule.broken:
        return _broken(rule)
    if rule.when != execution.claim.trigger:
        return Stop("skipped", f"no longer matches (the rule is started by {rule.when} now)")
    return None


def _state_stop(execution: Execution, rule: ReadyRule, look: Look, situation: Situation, now: datetime) -> Stop | None:
    unwanted = rule.trigger.still_wanted(situation) if rule.trigger else None
    unwanted = unwanted or _moved(execution, look)
    if unwanted:
        return Stop("skipped", f"no longer matches ({unwanted})")
    if (execution.attempt > 1 or execution.waited) and _is_over(execution, situation, now):
        return Stop("skipped", "no longer needed (the booking is over)")
    return _conditions_stop(rule, situation)


def _broken(rule: ReadyRule) -> Stop | None:
    return Stop("failed", f"the rule is broken: {rule.broken}", ending="rule") if rule.broken else None


def _conditions_stop(rule: ReadyRule, situation: Situation) -> Stop | None:
    verdict = rule.judge(situation)
    if verdict.truth is Truth.FAULT:
        return Stop("failed", f"could not be decided: {told(verdict)}", verdict, ending="conditions")
    if not verdict.matches:
        return Stop("skipped", f"no longer matches ({told(verdict)})", verdict)
    return None


def _moved(execution: Execution, look: Look) -> str | None:
    """Return what became of the moment that a clock trigger claimed, or None if it is where it was."""
    due_at = execution.occurrence.due
    if due_at is None or look.rule is None:
        return None
    wording = look.rule.state.wordings[execution.occurrence.rule_version]
    window = Window(due_at - timedelta(microseconds=1), due_at)
    moments = look.world.moments(execution.claim.entity, window)
    dues = {
        moment.due(wording.before, wording.after): moment
        for moment in moments
        if moment.trigger == execution.claim.trigger
    }
    found = dues.get(due_at)
    if found is not None and _is_meant(found, execution, wording):
        return None
    return "rescheduled" if dues else "the moment is no more"


def _is_meant(moment: Moment, execution: Execution, wording: Rule) -> bool:
    """Say whether a moment at the due instant is the one that was claimed, and not one that has taken its place."""
    if not moment.occasion:
        return True
    return execution.claim.occasion == occasion_of(wording.once, moment.occasion, wall=moment.wall)


def _is_over(execution: Execution, situation: Situation, now: datetime) -> bool:
    """Say whether a booking has ended since the claim: a retry never acts after that."""
    if situation.root.noun.kind != "booking":
        return False
    end = situation.value("booking.ends_at")
    return isinstance(end, datetime) and execution.occurrence.at <= end < now
