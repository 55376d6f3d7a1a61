"""Candidates are claimed: the first to record `execution.started` runs the rule, others find it taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from adapters.database import traces
from adapters.database.earlier_runs import EarlierRuns
from adapters.database.event_mapper import EventMapper
from adapters.database.queue import Waiting, enqueue
from adapters.database.stored_executions import Executions, read_executions
from adapters.database.unit_of_work import UnitOfWork
from automations.candidates import Claim, Trace
from domain.events import DomainEvent
from domain.execution_folding import after, execution_of
from domain.executions import (
    HARMLESS,
    Execution,
    ExecutionEnded,
    ExecutionRearmed,
    ExecutionStarted,
    stream_of,
)

QUEUE = "actions"
"""The queue of executions that run, or wait to be tried again."""


@dataclass(slots=True)
class Claimed:
    """What came of a batch of claims: those that are ours to run, and how many were kept from repeating.

    `candidates` counts all that was found, what a condition kept from running included. `taken` holds the
    executions that were there already, each as often as it was met.
    """

    running: list[Execution] = field(default_factory=list)
    over: list[Execution] = field(default_factory=list)
    taken: list[Execution] = field(default_factory=list)
    kept: int = 0
    candidates: int = 0


class ClaimWriter:
    """Records claims in a unit of work; the queue rows are leased to the claimer, who runs them itself."""

    def __init__(self, mapper: EventMapper, owner: str) -> None:
        self._mapper = mapper
        self._owner = owner

    def write(self, work: UnitOfWork, claims: Sequence[Claim], at: datetime, facts_at: int) -> Claimed:
        """Claim what nobody has claimed; what ended without any effect is taken up again.

        Raises Conflict, at the commit, where somebody else was faster: repeat the whole batch then.
        """
        known = read_executions(work.connection, self._mapper, {claim.candidate.key for claim in claims})
        earlier = EarlierRuns(work.connection, self._mapper)
        claimed, refused = Claimed(), []
        for claim in claims:
            key = claim.candidate.key
            before = known.readable.get(key)
            reason = _unreadable(known, key) or refusal(claim, before, earlier)
            if reason:
                claimed.taken += [before] if before is not None else []
                refused.append(Trace(claim.candidate, claim.verdict, note=reason))
                continue
            events = _events(key, claim, before, at, facts_at)
            work.append(events)
            known.readable[key] = execution = _folded(before, events)
            earlier.add(execution)
            (claimed.over if claim.over else claimed.running).append(execution)
        claimed.kept = len(refused)
        enqueue(work.connection, [Waiting(QUEUE, e.key) for e in claimed.running], leased_by=self._owner)
        traces.write(work.connection, refused, at)
        return claimed


def _unreadable(known: Executions, key: str) -> str:
    """Return why nobody knows what became of a key, or nothing; it stays taken."""
    error = known.unreadable.get(key)
    return f"its record cannot be read: {error}" if error is not None else ""


def refusal(claim: Claim, known: Execution | None, earlier: EarlierRuns) -> str:
    """Return why a candidate is not claimed, or nothing if it may be."""
    if known is not None and (not known.rearmable or claim.over in HARMLESS or _is_looked_at_again(claim, known)):
        return f"already {known.status} on {known.claim.event_date}"
    if earlier.hold(claim.candidate):
        return "already done before the rule's `once` was changed"
    return ""


def _is_looked_at_again(claim: Claim, known: Execution) -> bool:
    """Say whether it is the same event that was claimed before: what came of it then stands."""
    event = claim.candidate.event
    return event is not None and known.occurrence.source == event.version


def _events(key: str, claim: Claim, known: Execution | None, at: datetime, facts_at: int) -> list[DomainEvent]:
    candidate = claim.candidate
    content: dict[str, Any] = {
        "stream": stream_of(key),
        "version": known.version + 1 if known else 1,
        "at": at,
        "cause": candidate.cause,
        "rule_version": candidate.rule.version,
        "event_date": candidate.event_date,
        "due": candidate.due,
        "source": candidate.event.version if candidate.event else 0,
        "late": claim.late,
        "member": claim.member,
        "actions": tuple(step.action for step in candidate.rule.rule.do),
        "reasons": tuple(reason.to_json() for reason in claim.verdict.reasons),
        "facts_at": facts_at,
        "by": claim.by,
    }
    events: list[DomainEvent] = [_start(claim, content) if known is None else ExecutionRearmed(**content)]
    if claim.over:
        events.append(_end(claim, content))
    return events


def _start(claim: Claim, content: Mapping[str, Any]) -> ExecutionStarted:
    candidate = claim.candidate
    return ExecutionStarted(
        **content,
        rule=candidate.rule.id,
        trigger=candidate.rule.when,
        entity=candidate.entity,
        occasion=candidate.occasion,
    )


def _end(claim: Claim, content: Mapping[str, Any]) -> ExecutionEnded:
    assert claim.over is not None
    return ExecutionEnded(
        stream=content["stream"],
        version=content["version"] + 1,
        at=content["at"],
        cause=content["cause"],
        status=claim.over,
        reason=claim.reason,
        ending=claim.ending,
    )


def _folded(known: Execution | None, events: Sequence[DomainEvent]) -> Execution:
    execution = known
    for event in events:
        execution = execution_of([event]) if execution is None else after(execution, event)
    assert execution is not None
    return execution
