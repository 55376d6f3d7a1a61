"""Executions over the log: what a re-check sees, how each step is recorded (implements `runner.Journal`)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial

import sqlalchemy as sa

from adapters.database import lanes, log_queries, returned_ids
from adapters.database.claims import QUEUE
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache
from adapters.database.failures import Contended
from adapters.database.personal import PersonalRow, write
from adapters.database.queue import Lease, complete, heartbeat, release, set_apart
from adapters.database.rules import StoredRules
from adapters.database.stored_executions import read_executions
from adapters.database.unit_of_work import retrying, unit_of_work
from adapters.database.worlds import world_over
from automations.lanes import Lane
from automations.preparing import service_of
from automations.recheck import Look
from domain.attempts import LateAnswer
from domain.errors import Conflict, CorruptEvent
from domain.events import DomainEvent
from domain.executions import OVER, ActionDone, Execution, ExecutionEnded, stream_of
from domain.facts import Fact, PersonalRef
from projections.moments import look_again


class StoredJournal:
    """Reads and records executions for one worker; not shared between threads."""

    def __init__(self, log: EventLog, owner: str, default_zone: str, *, cache: EntityCache | None = None) -> None:
        self._log = log
        self._owner = owner
        self._default_zone = default_zone
        self._cache = cache or EntityCache(log.mapper)
        self._rules = StoredRules(log.mapper)
        self._leases: dict[str, Lease] = {}

    def hold(self, lease: Lease) -> None:
        """Note a lease that this worker has, until the execution ends or waits."""
        self._leases[lease.item] = lease

    def hold_claimed(self, executions: Iterable[Execution]) -> None:
        """Note the leases that came with this worker's own claims."""
        for execution in executions:
            self.hold(Lease(QUEUE, execution.key, self._owner, 1))

    def beat(self) -> None:
        """Show that this worker is alive and still at all that it holds; safe to call from another thread."""
        if leases := list(self._leases.values()):
            with writing(self._log.engine) as connection:
                heartbeat(connection, leases)

    def let_go(self) -> None:
        """Give back at once all that this worker holds; what it still records of it fails, as after a take-over."""
        if leases := list(self._leases.values()):
            with writing(self._log.engine) as connection:
                release(connection, dict.fromkeys(leases))

    def load(self, key: str) -> Execution | None:
        """Return an execution as it stands, or None where there is none that can be read."""
        with reading(self._log.engine) as connection:
            return read_executions(connection, self._log.mapper, [key]).readable.get(key)

    def drop(self, lease: Lease) -> None:
        """Take an execution that is over, or cannot be read, out of the queue."""
        with writing(self._log.engine) as connection:
            complete(connection, [lease])

    def forget(self) -> None:
        """Show no further sign of life for what is held, so that a run that broke off is taken over."""
        self._leases.clear()

    @contextmanager
    def at_head(self, execution: Execution) -> Iterator[Look]:
        """Hold what a re-check sees now, over one reading transaction."""
        self._cache.trim()
        with reading(self._log.engine) as connection:
            entities = self._cache.at_head(connection)
            world = world_over(connection, entities, self._default_zone)
            rules = self._rules.move_to(connection, entities.position)
            event = self._event(connection, execution)
            yield Look(world, rules.ready(execution.claim.rule), event, partial(lanes.lane, connection))

    def _event(self, connection: sa.Connection, execution: Execution) -> Fact | None:
        version = execution.occurrence.source
        if not version:
            return None
        entity = execution.claim.entity
        rows = log_queries.streams(connection, [entity], {entity: version - 1})
        event = self._log.mapper.read(rows[0])
        return event if isinstance(event, Fact) else None

    def record(self, after: Execution, event: DomainEvent, personal: Mapping[PersonalRef, object]) -> None:
        """Append one event of an execution and settle its place in the queue by the state after it.

        Raises Conflict if somebody else took the execution over meanwhile.
        """
        rows = [PersonalRow(ref.member, ref.ref, value) for ref, value in personal.items()]

        def attempt() -> None:
            with unit_of_work(self._log, "record") as work:
                write(work.connection, rows)
                self._settle(work.connection, after)
                returned_ids.write(work.connection, event)
                if _may_match_again(after, event):
                    look_again(work.connection, [after.claim.entity])
                work.append([event])

        # An answer is not to be lost for another transaction's sake: nobody can give it again.
        retrying(attempt, sleep=time.sleep, after=(Contended,))
        if after.status != "running":
            self._leases.pop(after.key, None)

    def _settle(self, connection: sa.Connection, after: Execution) -> None:
        lease = self._leases.get(after.key)
        if lease is None:
            return
        if _settled(connection, lease, after):
            del self._leases[after.key]
            raise Conflict(f"execution {after.key} was taken over by another worker")

    def set_apart(self, execution: Execution, lane: Lane, at: datetime) -> None:
        """Let an execution that waits go on waiting, behind a lane that it may not pass now."""
        lease = self._leases.pop(execution.key)
        with unit_of_work(self._log, "set apart") as work:
            _put_back(work.connection, lease, lane.service, at, at)

    def keep(self, answer: LateAnswer) -> None:
        """Keep an answer that came too late for its execution, in a stream of its own.

        One that was recorded after all is not kept: nobody but its own worker ends an attempt with an answer.
        """

        def attempt() -> None:
            with unit_of_work(self._log, "late answer") as work:
                if self._is_recorded(work.connection, answer):
                    return
                last = log_queries.last_versions(work.connection, [answer.stream]).get(answer.stream, 0)
                work.append([answer.model_copy(update={"version": last + 1})])

        retrying(attempt, sleep=time.sleep)

    def _is_recorded(self, connection: sa.Connection, answer: LateAnswer) -> bool:
        meant = (answer.action, answer.attempt, answer.series)
        try:
            recorded = [self._log.mapper.read(row) for row in log_queries.streams(connection, [stream_of(answer.key)])]
        except CorruptEvent:  # evidence is kept rather than lost
            return False
        return any(
            isinstance(each, ActionDone) and (each.action, each.attempt, each.series) == meant for each in recorded
        )


def _settled(connection: sa.Connection, lease: Lease, after: Execution) -> list[Lease]:
    """Settle the place of an execution in the queue by its state; return its lease if that was lost."""
    if after.status == "running":
        return heartbeat(connection, [lease])
    if after.status in OVER:
        return complete(connection, [lease])
    assert after.at is not None
    return _put_back(connection, lease, service_of(after) if after.probing else "", after.again_at, after.at)


def _put_back(
    connection: sa.Connection, lease: Lease, service: str, again_at: datetime | None, at: datetime
) -> list[Lease]:
    """Put an item back behind the lane of a service, or into the queue where that is open by now."""
    if service and lanes.locked(connection, service).opens_at is not None:
        return set_apart(connection, [lease], service, at)
    return release(connection, {lease: again_at})


def _may_match_again(after: Execution, event: DomainEvent) -> bool:
    """Say whether clock triggers have to look again: a re-check skipped what its conditions may let pass later."""
    by_conditions = isinstance(event, ExecutionEnded) and event.status == "skipped" and bool(event.values)
    return by_conditions and after.occurrence.due is not None
