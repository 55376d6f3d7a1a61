"""The story of one execution, told from the log alone: why it began, what was called, what came of it.

A story needs no plug-in and no other log. Personal values are looked up where they lie, and `ERASED` stands
in the place of those that are gone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_mapper import EventMapper
from adapters.database.personal import StoredPersonalValues
from domain.attempts import ExecutionHeld
from domain.endings import Ending
from domain.errors import CorruptEvent
from domain.events import DomainEvent
from domain.execution_folding import execution_of
from domain.executions import (
    ActionDone,
    AttemptStarted,
    Execution,
    ExecutionEnded,
    ExecutionStarted,
    Occurrence,
    stream_of,
)
from domain.facts import Fact, PersonalRef
from domain.rules import Rule, RuleState, rule_state, rule_stream
from domain.staff_acts import StaffAct

ERASED = "erased"
"""What stands for a personal value that was erased."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at an action; what has not ended has no ending, and nobody knows what was called."""

    action: int
    name: str
    number: int
    series: int
    started_at: datetime
    ended_at: datetime | None = None
    operation: str = ""
    idempotency_key: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    ending: Ending | None = None
    by: str = ""

    @property
    def place(self) -> tuple[int, int, int]:
        """Return what tells the attempts of one execution apart: series, action, number."""
        return self.series, self.action, self.number

    @property
    def answer(self) -> str:
        """Return what the service answered, in words."""
        match self.ending:
            case None:
                return "no answer was recorded"
            case ending if ending.kind == "done":
                return ", ".join(f"{name} {value}" for name, value in ending.result.items()) or "done"
            case ending:
                return str(ending.reason)


@dataclass(frozen=True, slots=True)
class Act:
    """What happened to an execution beside its attempts: it was retried, dismissed, taken up again, ended."""

    at: datetime
    what: str
    by: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """Everything about one execution. `wording` is the rule as it was then, `event` what started it."""

    execution: Execution
    wording: Rule | None
    event: Fact | None
    attempts: tuple[Attempt, ...]
    acts: tuple[Act, ...] = ()

    @property
    def name(self) -> str:
        """Return the rule's name as it was then, or its id; of a manual operation what was asked for."""
        claim = self.execution.claim
        return self.wording.name if self.wording else claim.rule or claim.operation


class Storyteller:
    """Tells stories over one connection; a rule that many of them share is read once."""

    def __init__(self, connection: sa.Connection, mapper: EventMapper) -> None:
        self._connection = connection
        self._mapper = mapper
        self._personal = StoredPersonalValues(connection)
        self._rules: dict[str, RuleState | None] = {}

    def stories(self, keys: Iterable[str]) -> list[Story]:
        """Return the stories of these executions, in the same order; of an unknown key there is none."""
        by_stream: dict[str, list[DomainEvent]] = {stream_of(key): [] for key in keys}
        for event in self._readable(by_stream):
            by_stream[event.stream].append(event)
        begun = (events for events in by_stream.values() if events and isinstance(events[0], ExecutionStarted))
        return [self._story(events) for events in begun]

    def _readable(self, streams: Iterable[str]) -> Iterator[DomainEvent]:
        """Return the events of streams; what cannot be read is told elsewhere, and hides nothing else."""
        for row in log_queries.streams(self._connection, streams):
            with contextlib.suppress(CorruptEvent):
                yield self._mapper.read(row)

    def _story(self, events: Sequence[DomainEvent]) -> Story:
        execution = execution_of(events)
        assert execution is not None
        rule = self._rule(execution.claim.rule)
        version = execution.occurrence.rule_version
        return Story(
            execution,
            wording=rule.wordings.get(version) if rule else None,
            event=self._event(execution),
            attempts=tuple(self._attempts(events)),
            acts=tuple(act for event in events[1:] if (act := self._act(event)) is not None),
        )

    def _act(self, event: DomainEvent) -> Act | None:
        what = event.topic.removeprefix("execution.").replace("-", " ")
        match event:
            case StaffAct():
                why = self._personal.read(PersonalRef(event.member, event.reason)) if event.reason else ""
                return Act(event.at, what, event.by, ERASED if why is None else str(why))
            case ExecutionEnded():
                return Act(event.at, event.status, event.by, event.reason)
            case ExecutionHeld():
                return Act(event.at, what, why=event.reason)
            case Occurrence():
                return Act(event.at, what, event.by)
            case _:
                return None

    def _rule(self, rule_id: str) -> RuleState | None:
        if rule_id not in self._rules:
            self._rules[rule_id] = rule_state(self._readable([rule_stream(rule_id)]))
        return self._rules[rule_id]

    def _event(self, execution: Execution) -> Fact | None:
        version = execution.occurrence.source
        if not version:
            return None
        found = (event for event in self._readable([execution.claim.entity]) if event.version == version)
        event = next(found, None)
        return event if isinstance(event, Fact) else None

    def _attempts(self, events: Sequence[DomainEvent]) -> list[Attempt]:
        """Return all attempts in order; one that begins with the event before it has no event of its own."""
        found: list[Attempt] = []
        begun: dict[tuple[int, int, int], Attempt] = {}
        names: tuple[str, ...] = ()
        for event in events:
            match event:
                case Occurrence():
                    names = event.actions
                case AttemptStarted():
                    attempt = _begun(event, names)
                    begun[attempt.place] = attempt
                case ExecutionHeld():
                    begun.pop((event.series, event.action, event.attempt), None)
                case ActionDone():
                    started = begun.pop((event.series, event.action, event.attempt), None)
                    found.append(self._ended(event, names, started.by if started else ""))
        return sorted([*found, *begun.values()], key=lambda attempt: attempt.started_at)

    def _ended(self, event: ActionDone, names: Sequence[str], by: str) -> Attempt:
        personal = {name: self._personal.read(PersonalRef(event.member, ref)) for name, ref in event.personal.items()}
        told = {name: ERASED if value is None else value for name, value in personal.items()}
        return Attempt(
            event.action,
            _name(names, event.action),
            event.attempt,
            event.series,
            event.started_at,
            ended_at=event.at,
            operation=event.operation,
            idempotency_key=event.idempotency_key,
            arguments={**event.arguments, **told},
            ending=event.ending,
            by=by,
        )


def _begun(event: AttemptStarted, names: Sequence[str]) -> Attempt:
    name = _name(names, event.action)
    return Attempt(event.action, name, event.attempt, event.series, event.at, by=event.by)


def _name(names: Sequence[str], action: int) -> str:
    return names[action] if action < len(names) else ""
