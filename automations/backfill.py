"""Backfill: what was due before a rule looked is run on purpose, as far as it matches and never ran."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from automations.candidates import Claim
from automations.clock_rules import Due
from automations.evaluator import member_of
from automations.looking_ahead import candidate_of
from automations.situation import World
from domain.executions import Execution


@dataclass(slots=True)
class Past:
    """What a rule finds when it looks back: due times, and those of them that match by the facts as they are.

    `fresh` never ran, `unused` were missed, skipped or cancelled without any effect, `done` ran already or are
    running. If not `complete`, there is more that was not looked at.
    """

    looked_at: int = 0
    fresh: int = 0
    unused: int = 0
    done: int = 0
    complete: bool = True

    @property
    def matching(self) -> int:
        """Return how many would run."""
        return self.fresh + self.unused

    def count(self, known: Execution | None) -> None:
        """Take over one that matches, with the execution that its key has."""
        if known is None:
            self.fresh += 1
        elif known.rearmable:
            self.unused += 1
        else:
            self.done += 1


def claim_of_past(due: Due, world: World, *, now: datetime, by: str = "") -> Claim | None:
    """Return the claim of what was due before, or None where the facts speak against it.

    Whether that is past for the rule, or too late for its limit, does not matter here: a person asks for it.
    """
    if due.rule.broken or due.at > now:
        return None
    assert due.rule.trigger is not None
    situation = world.situation(due.moment.entity, due.at)
    if due.rule.trigger.still_wanted(situation):
        return None
    verdict = due.rule.judge(situation)
    if not verdict.matches:
        return None
    return Claim(candidate_of(due), verdict, late=True, member=member_of(situation), by=by)
