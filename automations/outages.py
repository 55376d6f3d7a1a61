"""After an outage: what ran late, what was missed, and the one notice that staff get about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from automations.candidates import Claim
from domain.executions import Execution
from domain.moment_ranges import Window
from domain.notices import OUTAGE, Notice

CLEARLY_LONGER = 3
"""Tick intervals after which it is certain that no engine has looked."""


@dataclass(slots=True)
class Expected:
    """What a tick would come to for one rule: runs, those of them that are late, and what is missed."""

    rule: str
    runs: int = 0
    late: int = 0
    missed: int = 0

    def count(self, claim: Claim) -> None:
        """Take over one claim that would be made."""
        if claim.over == "missed":
            self.missed += 1
        elif claim.over is None:
            self.runs += 1
            self.late += claim.late


@dataclass(slots=True)
class Tally:
    """What fell due in the time that a tick is the first to look at, and came too late for its limit or just late.

    A claim that an earlier attempt at the same tick has left behind, or that another worker was faster with,
    counts as well; one that is given again does not.
    """

    gap: Window
    late: int = 0
    missed: int = 0
    longest: timedelta = timedelta()
    _counted: set[str] = field(default_factory=set)

    def add(self, executions: Iterable[Execution]) -> None:
        """Count what a page has claimed, or found claimed."""
        for execution in executions:
            if execution.key in self._counted or not self._belongs(execution):
                continue
            self._counted.add(execution.key)
            self.longest = max(self.longest, self.gap.up_to - _due(execution))
            if execution.status == "missed":
                self.missed += 1
            else:
                self.late += 1

    def _belongs(self, execution: Execution) -> bool:
        occurrence = execution.occurrence
        if occurrence.due not in self.gap or occurrence.at <= self.gap.after:
            return False
        return occurrence.late or execution.status == "missed"

    def is_of_an_outage(self, interval: timedelta) -> bool:
        """Say whether nobody can have looked for clearly longer than the interval of ticks.

        How long nobody has looked is told by what was left lying, since a watermark may lag behind.
        """
        return self.longest > CLEARLY_LONGER * interval

    def notice(self) -> Notice | None:
        """Return what staff are told, or None where there is nothing to tell."""
        if not self.late and not self.missed:
            return None
        payload = {
            "missed": self.missed,
            "late": self.late,
            "from": _told(self.gap.after),
            "to": _told(self.gap.up_to),
        }
        return Notice(OUTAGE, self.gap.after.isoformat(), payload)


def _due(execution: Execution) -> datetime:
    assert execution.occurrence.due is not None
    return execution.occurrence.due


def _told(instant: datetime) -> str:
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}"
