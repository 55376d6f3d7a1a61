"""The lanes of the services, shared by all workers (implements `automations.lanes.Lanes`).

A row is there once a call has failed. What waits behind a held lane is kept apart in the queue, so that it is
neither looked at nor tried, and comes back with the first call that is answered.
"""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects import postgresql, sqlite

from adapters.database import log_queries, queue
from adapters.database.claims import QUEUE
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.schema import metadata
from adapters.database.schema import queue as queue_table
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from automations.lanes import Lane, after_ending
from domain.endings import Ending
from domain.events import DomainEvent
from domain.lanes import LaneHeld, LaneRecovered, lane_of
from projections.columns import Instant, Key

lanes = sa.Table(
    "lanes",
    metadata,
    sa.Column("service", Key, primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False),
    sa.Column("held_since", Instant),
    sa.Column("held_by", sa.Text),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("opens_at", Instant),
    sqlite_with_rowid=False,
)
"""What is known of each service that has failed; `automations.lanes.Lane` says what the columns mean."""

logger = structlog.get_logger(__name__)


class StoredLanes:
    """The lanes of one operator; serves any thread."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def look(self, service: str) -> Lane:
        """Return a lane as it is now."""
        with reading(self._log.engine) as connection:
            return lane(connection, service)

    def take_probe(self, lane: Lane, at: datetime) -> bool:
        """Take the one call that a held lane lets through now; say whether nobody else was faster."""
        taken = {"of_service": lane.service, "seen": lane.opens_at, "next": lane.probed(at).opens_at}
        with unit_of_work(self._log, "probe") as work:
            return work.connection.execute(_TAKE_PROBE, taken).rowcount == 1

    def report(self, lane: Lane, ending: Ending, at: datetime) -> None:
        """Take over how a call has ended; nothing is written of an answer where nothing had failed before."""
        if lane.is_clear and after_ending(lane, ending, at).is_clear:
            return

        def attempt() -> None:
            with unit_of_work(self._log, "lane") as work:
                before = _made(work.connection, lane.service)
                self._move(work, before, after_ending(before, ending, at), at)

        retrying(attempt, sleep=time.sleep)

    def end_rest(self, service: str, at: datetime) -> bool:
        """Let through what waited while a service had asked for a rest; say whether anything did."""
        with unit_of_work(self._log, "lane") as work:
            before = locked(work.connection, service)
            if before.is_held or not before.permits(at):
                return False
            work.connection.execute(_CHANGE, _parameters(replace(before, opens_at=None)))
            return queue.let_through(work.connection, QUEUE, service) > 0

    def _move(self, work: UnitOfWork, before: Lane, after: Lane, at: datetime) -> None:
        if after == before:
            return
        work.connection.execute(_CHANGE, _parameters(after))
        if before.opens_at is not None and after.opens_at is None:
            queue.let_through(work.connection, QUEUE, after.service)
            work.wake()
        event = _told(work.connection, before, after, at)
        if event is not None:
            work.append([event])
            work.after_commit(lambda: _log_change(event))


def lane(connection: sa.Connection, service: str) -> Lane:
    """Return a lane as a transaction sees it."""
    return _of_row(connection.execute(_ONE, {"of_service": service}).one_or_none(), service)


def locked(connection: sa.Connection, service: str) -> Lane:
    """Return a lane that nobody else changes until the commit."""
    return _of_row(connection.execute(_ONE.with_for_update(), {"of_service": service}).one_or_none(), service)


def opening(connection: sa.Connection, at: datetime) -> list[Lane]:
    """Return the lanes that may be called again: those whose rest is over, and held ones that something waits for."""
    return [Lane(*row) for row in connection.execute(_OPENING, {"now": at})]


def next_opening(connection: sa.Connection) -> datetime | None:
    """Return when the next call may be made for what waits behind a lane, or None where nothing does."""
    opens_at: datetime | None = connection.scalar(_NEXT_OPENING)
    return opens_at


def probe_now(connection: sa.Connection, service: str, at: datetime) -> bool:
    """Let the next call of a held lane through at once, as somebody wants; say whether the lane was held."""
    return connection.execute(_PROBE_NOW, {"of_service": service, "next": at}).rowcount == 1


def _made(connection: sa.Connection, service: str) -> Lane:
    """Return a lane with its row locked, which is made if need be."""
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    fresh = _columns(Lane(service))
    connection.execute(dialect.insert(lanes).on_conflict_do_nothing(), fresh)
    return locked(connection, service)


def _of_row(row: sa.Row[Any] | None, service: str) -> Lane:
    return Lane(service) if row is None else Lane(*row)


def _columns(lane: Lane) -> dict[str, Any]:
    return {column.name: getattr(lane, column.name) for column in lanes.c}


def _parameters(lane: Lane) -> dict[str, Any]:
    return {f"its_{name}": value for name, value in _columns(lane).items()}


def _told(connection: sa.Connection, before: Lane, after: Lane, at: datetime) -> DomainEvent | None:
    """Return the event that tells of a lane that is held from now on, or not any more."""
    if before.is_held == after.is_held:
        return None
    stream = lane_of(after.service)
    version = log_queries.last_versions(connection, [stream]).get(stream, 0) + 1
    common: dict[str, Any] = {"stream": stream, "version": version, "at": at, "service": after.service}
    if before.held_since is not None:
        return LaneRecovered(**common, held_since=before.held_since, reason=before.reason)
    assert after.held_by is not None
    return LaneHeld(**common, ending=after.held_by, reason=after.reason, failures=after.failures)


def _log_change(event: DomainEvent) -> None:
    tell = logger.error if isinstance(event, LaneHeld) else logger.info
    tell(event.topic, lane=event.stream)


_SERVICE = lanes.c.service == sa.bindparam("of_service")
_ALL = sa.select(*lanes.c)
_ONE = _ALL.where(_SERVICE)
_WAITED_FOR = (
    sa.exists()
    .where(queue_table.c.lane == lanes.c.service, queue_table.c.queue == QUEUE, queue_table.c.owner.is_(None))
    .correlate(lanes)
)
_OPENING = (
    _ALL.where(lanes.c.opens_at <= sa.bindparam("now"))
    .where(sa.or_(lanes.c.held_since.is_(None), _WAITED_FOR))
    .order_by(lanes.c.service)
)
_NEXT_OPENING = sa.select(sa.func.min(lanes.c.opens_at)).where(_WAITED_FOR)
_HELD = sa.update(lanes).where(_SERVICE, lanes.c.held_since.is_not(None))
_PROBE_NOW = _HELD.values(opens_at=sa.bindparam("next"))
_TAKE_PROBE = _PROBE_NOW.where(lanes.c.opens_at == sa.bindparam("seen"))
_CHANGE = (
    sa.update(lanes)
    .where(lanes.c.service == sa.bindparam("its_service"))
    .values({name: sa.bindparam(f"its_{name}") for name in (c.name for c in lanes.c) if name != "service"})
)
