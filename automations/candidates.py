"""A candidate: this rule may have to run for this entity on this date."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import NamedTuple

from automations.rulebook import ReadyRule
from automations.verdicts import NO_CONDITION, Verdict
from domain.events import Cause
from domain.executions import Status, dedupe_key, occasion_of
from domain.facts import Fact
from domain.moments import Moment


@dataclass(frozen=True)
class Candidate:
    """What a trigger found: the fact of an event trigger, or the moment of a clock trigger and when it is due."""

    rule: ReadyRule
    entity: str
    event_date: date
    event: Fact | None = None
    due: datetime | None = None
    moment: Moment | None = None

    @cached_property
    def occasion(self) -> str:
        """Return what the rule acts once for (semantics 1).

        A moment is named by its wall time: when the zone of its space is corrected, it stays the same one.
        """
        source = _named(self.event) if self.event is not None else ""
        day = self.moment.occasion if self.moment is not None and self.moment.occasion else ""
        wall = self.moment.identity if self.moment is not None else None
        return occasion_of(self.rule.once, day or self.event_date.isoformat(), event=source, wall=wall)

    @cached_property
    def key(self) -> str:
        """Return the dedupe key."""
        return dedupe_key(self.rule.id, self.rule.when, self.entity, self.occasion)

    @property
    def cause(self) -> Cause | None:
        """Return the execution that made the event happen, if one of ours did."""
        return self.event.cause if self.event is not None else None


def _named(event: Fact) -> str:
    """Return the source and the id of an event as one text that no other pair comes to."""
    source = event.source.replace("%", "%25").replace("#", "%23")
    return f"{source}#{event.id}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A candidate that is to be claimed, or that is over before it began (`missed`, `failed`, `skipped`).

    `by` is who asked for it, where that was a person; `ending` is the class of a failure.
    """

    candidate: Candidate
    verdict: Verdict = NO_CONDITION
    over: Status | None = None
    reason: str = ""
    late: bool = False
    member: str = ""
    by: str = ""
    ending: str = ""

    @classmethod
    def failed(
        cls, candidate: Candidate, ending: str, reason: str, verdict: Verdict = NO_CONDITION, member: str = ""
    ) -> Claim:
        """Return the claim of a candidate that fails before anything is called, so that staff hear of it."""
        return cls(candidate, verdict, over="failed", reason=reason, member=member, ending=ending)


class Trace(NamedTuple):
    """A candidate that did not run, and why: the first condition that failed, with its values.

    A named tuple, since most candidates come to one. Until `watched_until` a change of one of the streams in
    `reads` makes it a candidate again.
    """

    candidate: Candidate
    verdict: Verdict = NO_CONDITION
    note: str = ""
    reads: frozenset[str] = frozenset()
    watched_until: datetime | None = None


@dataclass(slots=True)
class Considered:
    """What came of a batch: claims and traces in the order in which they were found."""

    claims: list[Claim] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)

    @property
    def candidates(self) -> int:
        """Return how many candidates these come from."""
        return len(self.claims) + len(self.traces)

    def add(self, found: Claim | Trace | None) -> None:
        """Take over what came of one candidate."""
        if isinstance(found, Claim):
            self.claims.append(found)
        elif found is not None:
            self.traces.append(found)
