"""Deliveries over the log: what a re-check sees of them, and how each step is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
import structlog

from adapters.database import log_queries
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.event_mapper import EventMapper
from adapters.database.facts import EntityCache
from adapters.database.log_queries import StoredRow
from adapters.database.personal import PersonalRow, write
from adapters.database.queue import Lease, complete, heartbeat, release
from adapters.database.rules import StoredRules
from adapters.database.stored_executions import Executions, read_executions
from adapters.database.unit_of_work import UnitOfWork, unit_of_work
from adapters.database.worlds import world_over
from automations.notifications.dispatcher import Change
from automations.notifications.policy import Case
from automations.recheck import Look
from automations.rulebook import RuleBook
from automations.situation import World
from domain.deliveries import WAITING, Delivery, DeliveryRead, delivery_of
from domain.errors import Conflict, CorruptEvent, InvalidInput
from domain.executions import Execution
from domain.facts import Fact
from domain.ids import entity, kind_of
from domain.nouns import NOUNS

logger = structlog.get_logger(__name__)


class StoredDeliveries:
    """Reads and records deliveries for one worker (a `DeliveryJournal`); not shared between threads."""

    def __init__(self, log: EventLog, owner: str, default_zone: str) -> None:
        self._log = log
        self._owner = owner
        self._default_zone = default_zone
        self._cache = EntityCache(log.mapper)
        self._rules = StoredRules(log.mapper)
        self._leases: dict[str, Lease] = {}

    def hold(self, leases: Iterable[Lease]) -> list[Delivery]:
        """Note leases that this worker has, and return their deliveries; what is over leaves the queue."""
        held = {lease.item: lease for lease in leases}
        with reading(self._log.engine) as connection:
            found = read_deliveries(connection, self._log.mapper, held)
        going_on = [each for each in found.values() if each.state in WAITING or each.state == "sending"]
        self._leases |= {each.id: held[each.id] for each in going_on}
        over = [lease for item, lease in held.items() if item not in self._leases]
        if over:
            with writing(self._log.engine) as connection:
                complete(connection, over)
        return going_on

    def beat(self) -> None:
        """Show that this worker is alive and still at all that it holds; safe to call from another thread."""
        if leases := list(self._leases.values()):
            with writing(self._log.engine) as connection:
                heartbeat(connection, leases)

    def forget(self) -> None:
        """Show no further sign of life for what is held, so that what broke off is taken over."""
        self._leases.clear()

    @contextmanager
    def at_head(self, deliveries: Sequence[Delivery]) -> Iterator[StoredView]:
        """Hold what a re-check sees now, over one reading transaction."""
        self._cache.trim()
        with reading(self._log.engine) as connection:
            entities = self._cache.at_head(connection)
            world = world_over(connection, entities, self._default_zone)
            named = {name for each in deliveries for name in (each.asked.to, each.asked.entity)}
            world.prepare(name for name in named if kind_of(name) in NOUNS)
            rules = self._rules.move_to(connection, entities.position)
            keys = {each.asked.cause.execution for each in deliveries if each.asked.cause is not None}
            executions = read_executions(connection, self._log.mapper, keys)
            yield StoredView(connection, self._log.mapper, world, rules, executions)

    def record(self, changes: Sequence[Change]) -> list[Delivery]:
        """Append what happened and settle each delivery's place in the queue, at once.

        Returns the deliveries as they are now, without those that another worker has taken over meanwhile.
        """
        if not changes:
            return []
        try:
            return self._recorded(changes)
        except Conflict:
            if len(changes) == 1:
                self._lost(changes[0].before.id)
                return []
            return [delivery for change in changes for delivery in self.record([change])]

    def _recorded(self, changes: Sequence[Change]) -> list[Delivery]:
        after = {change.before.id: change.after for change in changes}
        with unit_of_work(self._log, "deliver") as work:
            lost = {lease.item for lease in self._settle(work.connection, after)}
            kept = [change for change in changes if change.before.id not in lost]
            self._append(work, kept)
        for item in lost:
            self._lost(item)
        for change in kept:
            if after[change.before.id].state != "sending":
                self._leases.pop(change.before.id, None)
        return [after[change.before.id] for change in kept]

    @staticmethod
    def _append(work: UnitOfWork, changes: Sequence[Change]) -> None:
        rows = [
            PersonalRow(reference.member, reference.ref, value)
            for change in changes
            for reference, value in change.personal.items()
        ]
        write(work.connection, rows)
        work.append(step for change in changes for step in change.steps)

    def _settle(self, connection: sa.Connection, after: Mapping[str, Delivery]) -> list[Lease]:
        """Settle the places in the queue, and return the leases that are lost."""
        held = {self._leases[item]: delivery for item, delivery in after.items() if item in self._leases}
        lost = heartbeat(connection, [lease for lease, each in held.items() if each.state == "sending"])
        again = {lease: each.again_at for lease, each in held.items() if each.state in WAITING}
        over = [lease for lease, each in held.items() if each.state not in WAITING | {"sending"}]
        return [*lost, *release(connection, again), *complete(connection, over)]

    def _lost(self, item: str) -> None:
        self._leases.pop(item, None)
        logger.warning("delivery.taken-over", delivery=item)


@dataclass(frozen=True, slots=True)
class StoredView:
    """What a re-check sees of deliveries, over one connection."""

    connection: sa.Connection
    mapper: EventMapper
    world: World
    rules: RuleBook
    executions: Executions

    def case(self, delivery: Delivery, at: datetime) -> Case:
        """Return everything that decides about one delivery; raises CorruptEvent where that cannot be read."""
        key = delivery.asked.cause.execution if delivery.asked.cause is not None else ""
        if key in self.executions.unreadable:
            raise self.executions.unreadable[key]
        execution = self.executions.readable.get(key)
        if execution is None:
            return Case(delivery, at, self.world)
        look = Look(self.world, self.rules.ready(execution.claim.rule), self._event(execution))
        return Case(delivery, at, self.world, execution, look)

    def _event(self, execution: Execution) -> Fact | None:
        version, stream = execution.occurrence.source, execution.claim.entity
        if not version:
            return None
        rows = log_queries.streams(self.connection, [stream], {stream: version - 1})
        event = self.mapper.read(rows[0])
        return event if isinstance(event, Fact) else None


def read_deliveries(connection: sa.Connection, mapper: EventMapper, ids: Iterable[str]) -> dict[str, Delivery]:
    """Return deliveries by their id, without those that do not exist or cannot be read."""
    by_stream: dict[str, list[StoredRow]] = {}
    for row in log_queries.streams(connection, [entity("delivery", each) for each in ids]):
        by_stream.setdefault(row.stream, []).append(row)
    found: dict[str, Delivery] = {}
    for rows in by_stream.values():
        try:
            delivery = delivery_of(map(mapper.read, rows))
        except CorruptEvent as error:
            logger.error("delivery.unreadable", stream=error.stream, version=error.version)
            continue
        if delivery is not None:
            found[delivery.id] = delivery
    return found


def mark_read(work: UnitOfWork, mapper: EventMapper, delivery: str, at: datetime) -> bool:
    """Note that a message in an inbox was seen; say whether that is new. Raises InvalidInput for no such one."""
    found = read_deliveries(work.connection, mapper, [delivery]).get(delivery)
    if found is None or found.asked.channel != "in_app" or found.state != "sent":
        raise InvalidInput(f"no message {delivery!r} lies in an inbox")
    if found.read_at is not None:
        return False
    work.append([DeliveryRead(stream=found.stream, version=found.version + 1, at=at)])
    return True
