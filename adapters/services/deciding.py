"""Services that decide: from a command and the states in the log to one fact under the call's key."""

from __future__ import annotations

from typing import Any, ClassVar

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache
from adapters.database.unit_of_work import UnitOfWork
from adapters.ingestion.inbox import inbox
from adapters.ingestion.incoming import Incoming, Outcome
from adapters.ingestion.recording import FactRecorder
from adapters.services.embedded import KEY_REUSED, EmbeddedService, Ending
from automations.ports import Call
from domain.commands import Command
from domain.decisions import Decided, Operation, stamped
from domain.endings import Done, Refused
from domain.events import DomainEvent
from domain.facts import Entity


class DecidingService(EmbeddedService):
    """An embedded service with the operations of a module of `domain.decisions`.

    What it does is a fact of source `semel/<name>` whose id is the idempotency key. That pair is unique,
    which makes each key act once. The ids that it answers come from the key or the command, so that a repeat
    gets them too.
    """

    operations: ClassVar[tuple[Operation[Any], ...]]

    @property
    def source(self) -> str:
        """Return what the facts of this service name as their source."""
        return f"semel/{self.name}"

    def _do(self, work: UnitOfWork, command: Command, call: Call) -> Ending:
        operation = self._operation(command)
        if operation is None:
            return Refused(reason=f"the service {self.name} has no operation {command.OPERATION}")
        desk = Desk(work, self._foundation.log)
        if self._is_entered(work, call.key):
            return self._again(desk, operation, command, call)
        decided = operation.decide(command, call.key, desk)
        if isinstance(decided, Refused):
            return decided
        return self._recorded(desk, operation, decided, command, call)

    def _operation(self, command: Command) -> Operation[Any] | None:
        return next((each for each in self.operations if each.command is type(command)), None)

    def _is_entered(self, work: UnitOfWork, key: str) -> bool:
        return work.connection.scalar(_ENTERED, {"of_source": self.source, "of_key": key}) is not None

    def _again(self, desk: Desk, operation: Operation[Any], command: Command, call: Call) -> Ending:
        repeat = Incoming(self.source, call.key, command.OPERATION, call.at, {}, fingerprint=fingerprint_of(command))
        if self._record(desk, repeat, call).status != "duplicate":
            return KEY_REUSED
        first = desk.find(operation.entity(command, call.key))
        return Done(result={name: first.get(name) for name in operation.answer})

    def _recorded(
        self, desk: Desk, operation: Operation[Any], decided: Decided, command: Command, call: Call
    ) -> Ending:
        stream = operation.entity(command, call.key)
        time, sequence = stamped(desk.find(stream), call.at)
        incoming = Incoming(
            self.source,
            call.key,
            decided.type,
            time,
            dict(decided.data),
            sequence,
            cause=call.cause,
            fingerprint=fingerprint_of(command),
        )
        # Before the fact, since taking a number has to see the series as the decision saw it.
        desk.work.append(self._beside(desk, decided, stream, call))
        outcome = self._record(desk, incoming, call)
        if outcome.status != "accepted":
            raise RuntimeError(f"{decided.type} under {call.key} was {outcome.status} after it had been new")
        return Done(result={name: decided.data[name] for name in operation.answer})

    def _record(self, desk: Desk, incoming: Incoming, call: Call) -> Outcome:
        foundation = self._foundation
        recorder = FactRecorder(foundation.log.mapper, desk.cache, foundation.salt, foundation.default_zone)
        return recorder.record(desk.work, [incoming], call.at)[0]

    def _beside(self, desk: Desk, decided: Decided, stream: str, call: Call) -> list[DomainEvent]:
        """Return what is recorded together with a fact."""
        return []


class Desk:
    """The states that one decision stands on (a `Ground`), each as it is at the head of the log."""

    def __init__(self, work: UnitOfWork, log: EventLog) -> None:
        self.work = work
        self.cache = EntityCache(log.mapper)
        self._entities = self.cache.at_head(work.connection)

    def find(self, stream: str) -> Entity:
        """Return the state of an entity."""
        return self._entities.get(stream)

    def next_number(self, series: str) -> int:
        """Return the number that is taken next in a series."""
        return log_queries.last_versions(self.work.connection, [series]).get(series, 0) + 1


def fingerprint_of(command: Command) -> object:
    """Return what two requests with one key must have alike: the operation and all that it is given."""
    return [command.OPERATION, command.model_dump(mode="json")]


_ENTERED = sa.select(inbox.c.id).where(
    inbox.c.source == sa.bindparam("of_source"), inbox.c.id == sa.bindparam("of_key")
)
