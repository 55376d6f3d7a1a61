"""Deliveries over the log: what a re-check sees of them, and how each step is recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Generic, Protocol, TypeVar

import sqlalchemy as sa
import structlog

from adapters.database import log_queries
from adapters.database.delivery_beginnings import go_on_after
from adapters.database.delivery_watch import DeliveryWatch
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.event_mapper import EventMapper
from adapters.database.log_queries import StoredRow
from adapters.database.personal import PersonalRow, write
from adapters.database.queue import Lease, complete, heartbeat, release, set_apart
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from automations.notifications.dispatcher import Change
from domain.deliveries import WAITING, Delivery, DeliveryPending, DeliveryRead, delivery_of
from domain.errors import Conflict, CorruptEvent, InvalidInput
from domain.ids import entity, id_of

logger = structlog.get_logger(__name__)


V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)


class Views(Protocol[V_co]):
    """What makes views of deliveries: of all that decides about them now."""

    def at_head(self, connection: sa.Connection, asked: Iterable[DeliveryPending]) -> V_co:
        """Return what decides about these deliveries now, for as long as the transaction lasts."""
        ...


class Answers(Protocol):
    """What follows from the answers of channels, beyond the deliveries themselves."""

    def heed(self, work: UnitOfWork, changes: Sequence[Change], after: Mapping[str, Delivery]) -> None:
        """Do what follows from the ends of calls, in the transaction that records them."""
        ...


class StoredDeliveries(Generic[V]):
    """Reads and records deliveries for one worker (a `DeliveryJournal`); not shared between threads."""

    def __init__(self, log: EventLog, views: Views[V], answers: Answers) -> None:
        self._log = log
        self._views = views
        self._answers = answers
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

    def keep(self, leases: Iterable[Lease]) -> None:
        """Note leases that this worker has, whose deliveries it knows."""
        self._leases |= {lease.item: lease for lease in leases}

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

    def forget(self) -> None:
        """Show no further sign of life for what is held, so that what broke off is taken over."""
        self._leases.clear()

    def set_apart(self, behind: Mapping[str, str], at: datetime) -> None:
        """Put deliveries back into their queues behind a lane, as nothing is to be done about them for now."""
        if not behind:
            return
        with writing(self._log.engine) as connection:
            for item, lane in behind.items():
                set_apart(connection, [self._leases.pop(item)], lane, at)

    def watch(self, monotonic: Callable[[], float]) -> DeliveryWatch:
        """Return what notices what is recorded from now on."""
        return DeliveryWatch(self._log.engine, monotonic)

    @contextmanager
    def at_head(self, deliveries: Sequence[Delivery]) -> Iterator[V]:
        """Hold what a re-check sees now, over one reading transaction."""
        with reading(self._log.engine) as connection:
            yield self._views.at_head(connection, (each.asked for each in deliveries))

    def record(self, changes: Sequence[Change]) -> list[Delivery]:
        """Append what happened and settle each delivery's place in the queue, at once.

        Returns the deliveries as they are now, without those that another worker has taken over meanwhile.
        """
        if not changes:
            return []
        try:
            return self._recorded_surely(changes)
        except Conflict:
            if len(changes) == 1:
                self._lost(changes[0].before.id)
                return []
            return [delivery for change in changes for delivery in self.record([change])]

    def _recorded_surely(self, changes: Sequence[Change]) -> list[Delivery]:
        """Record changes; one alone again and again, as it may be about what another worker changes as well."""
        attempts = 4 if len(changes) == 1 else 1
        return retrying(lambda: self._recorded(changes), sleep=time.sleep, attempts=attempts, after=(Conflict,))

    def _recorded(self, changes: Sequence[Change]) -> list[Delivery]:
        after = {change.before.id: change.after for change in changes}
        with unit_of_work(self._log, "deliver") as work:
            lost = {lease.item for lease in self._settle(work.connection, after)}
            kept = [change for change in changes if change.before.id not in lost]
            record_values(work, kept)
            work.append(step for change in kept for step in change.steps)
            self._answers.heed(work, kept, after)
            go_on_after(work, [after[change.before.id] for change in kept], partial(self._read, work.connection))
        for item in lost:
            self._lost(item)
        for change in kept:
            if after[change.before.id].state != "sending":
                self._leases.pop(change.before.id, None)
        return [after[change.before.id] for change in kept]

    def _settle(self, connection: sa.Connection, after: Mapping[str, Delivery]) -> list[Lease]:
        """Settle the places in the queue, and return the leases that are lost."""
        held = {self._leases[item]: delivery for item, delivery in after.items() if item in self._leases}
        lost = heartbeat(connection, [lease for lease, each in held.items() if each.state == "sending"])
        again = {lease: each.again_at for lease, each in held.items() if each.state in WAITING}
        over = [lease for lease, each in held.items() if each.state not in WAITING | {"sending"}]
        return [*lost, *release(connection, again), *complete(connection, over)]

    def _read(self, connection: sa.Connection, streams: Iterable[str]) -> list[Delivery]:
        return list(read_deliveries(connection, self._log.mapper, map(id_of, streams)).values())

    def _lost(self, item: str) -> None:
        self._leases.pop(item, None)
        logger.warning("delivery.taken-over", delivery=item)


def record_values(work: UnitOfWork, changes: Iterable[Change]) -> None:
    """Store the personal values that the events of changes refer to."""
    rows = [
        PersonalRow(reference.member, reference.ref, value)
        for change in changes
        for reference, value in change.personal.items()
    ]
    write(work.connection, rows)


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
