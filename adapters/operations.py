"""Manual operations are performed: recorded, then run with the services, retries and dossiers of every rule."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import date, datetime

import sqlalchemy as sa

from adapters.database.claims import QUEUE
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache, FreshEntities
from adapters.database.journal import StoredJournal
from adapters.database.lease_observer import LEASE_TIME
from adapters.database.personal import PersonalRow, StoredPersonalValues, write
from adapters.database.queue import Waiting, enqueue
from adapters.database.stored_executions import read_executions
from adapters.database.unit_of_work import retrying, unit_of_work
from adapters.loops import heartbeat
from automations.manual_operations import ManualOperation, claim, is_repeat
from automations.ports import Clock
from automations.runner import Runner
from domain.civil_time import local_date, zone
from domain.errors import InvalidInput
from domain.execution_folding import execution_of
from domain.executions import Execution
from domain.facts import PersonalRef
from domain.ids import kind_of
from domain.nouns import NOUNS
from domain.places import zone_of


@dataclass(frozen=True, slots=True)
class Performed:
    """What came of a manual operation; a repeat of an earlier request called nothing."""

    execution: Execution
    is_repeat: bool = False


@dataclass(frozen=True, slots=True)
class Performer:
    """Performs manual operations for one owner of leases, with signs of life while a call takes its time."""

    log: EventLog
    clock: Clock
    owner: str
    default_zone: str
    journal: StoredJournal
    runner: Runner
    lease_seconds: float = LEASE_TIME

    def perform(self, operation: ManualOperation) -> Performed:
        """Do what somebody of staff asks for, once for each idempotency key, and return what came of it.

        What the service cannot do now waits in the queue like any other run. Raises InvalidInput where the
        key was used for another request.
        """
        recorded = retrying(lambda: self._record(operation), sleep=time.sleep)
        if recorded.is_repeat:
            return recorded
        self.journal.hold_claimed([recorded.execution])
        try:
            with heartbeat(self.journal, self.lease_seconds):
                return Performed(self.runner.run(recorded.execution))
        finally:
            self.journal.forget()

    def _record(self, operation: ManualOperation) -> Performed:
        with unit_of_work(self.log, "operation") as work:
            found = read_executions(work.connection, self.log.mapper, [operation.key])
            known = found.readable.get(operation.key)
            if known is not None:
                return _repeated(work.connection, known, operation)
            at = self.clock.now()
            entities = EntityCache(self.log.mapper).at_head(work.connection)
            operation = _completed(operation, entities)
            claimed = claim(operation, at, self._day(entities, operation.command.entity, at))
            rows = [PersonalRow(ref.member, ref.ref, value) for ref, value in claimed.personal.items()]
            write(work.connection, rows)
            enqueue(work.connection, [Waiting(QUEUE, operation.key)], leased_by=self.owner)
            work.append([claimed.event])
        execution = execution_of([claimed.event])
        assert execution is not None
        return Performed(execution)

    def _day(self, entities: FreshEntities, entity: str, at: datetime) -> date:
        name = zone_of(entities.get(entity), entities.get) if kind_of(entity) in NOUNS else None
        return local_date(at, zone(name or self.default_zone))


def _completed(operation: ManualOperation, entities: FreshEntities) -> ManualOperation:
    """Return the operation for the member whom its entity is about, where none was named."""
    command = operation.command
    if command.member_id or kind_of(command.entity) not in NOUNS:
        return operation
    member = entities.get(command.entity).get("member_id") or ""
    return ManualOperation(command.model_copy(update={"member_id": member}), operation.by, operation.idempotency_key)


def _repeated(connection: sa.Connection, known: Execution, operation: ManualOperation) -> Performed:
    values = StoredPersonalValues(connection)
    claim = known.claim
    personal = {name: values.read(PersonalRef(claim.member, ref)) for name, ref in claim.personal.items()}
    command = operation.command
    if not command.member_id:
        command = command.model_copy(update={"member_id": claim.member})
    if not is_repeat(claim, personal, command):
        raise InvalidInput(f"the idempotency key {operation.idempotency_key!r} was used for another request")
    return Performed(known, is_repeat=True)
