"""A restored database waits: until staff resume it, no clock trigger acts, no rule runs and nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from adapters.database import evaluating, log_queries, meta, pausing, watermark
from adapters.database.claims import QUEUE as ACTIONS
from adapters.database.delivery_queue import is_delivery
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.requests import QUEUE as NOTIFICATIONS
from adapters.database.schema import queue
from automations.clock_jumps import pause_of_a_copy
from automations.ports import Clock
from domain.deliveries import WAITING
from projections.deliveries import deliveries


class Waiting(NamedTuple):
    """What waits in a restored database: events that no rule has looked at, actions of runs, and messages.

    Of the deliveries `expired` are too late to be useful to anybody by now: these will not be sent.
    """

    events: int
    actions: int
    messages: int
    expired: int


class Gate:
    """Says for one process whether anything may be done; at its first look it finds out about a copy by itself."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._has_looked = False

    def is_open(self) -> bool:
        """Say whether rules may run and deliveries go out."""
        if not self._has_looked:
            if meta.is_copy(self._log.engine):
                self._close()
            self._has_looked = True
        with reading(self._log.engine) as connection:
            return not is_held(connection)

    def _close(self) -> None:
        with reading(self._log.engine) as connection:
            looked_until = watermark.stored(connection)
        pausing.begin(self._log, pause_of_a_copy(looked_until), self._clock.now())
        with writing(self._log.engine) as connection:
            meta.remember(connection, meta.HELD, "copied")


def is_held(connection: sa.Connection) -> bool:
    """Say whether everything waits since the database was restored."""
    return meta.remembered(connection, meta.HELD) is not None


def mark(engine: sa.Engine) -> str:
    """Note that a database was restored; from then on it waits. Return the words with which it is paused."""
    with writing(engine) as connection:
        reason = watermark.paused(connection) or pause_of_a_copy(watermark.stored(connection)).text
        watermark.pause(connection, reason)
        meta.remember(connection, meta.HELD, "marked")
    return reason


def waiting(connection: sa.Connection, now: datetime) -> Waiting:
    """Return what waits, whatever it waits for; of deliveries as far as the projections are."""
    events = log_queries.head_position(connection) - log_queries.tracked_position(connection, evaluating.FOLLOWER)
    counted = connection.execute(_QUEUED).all()
    actions = sum(count for name, count in counted if name == ACTIONS)
    messages = sum(count for name, count in counted if name == NOTIFICATIONS or is_delivery(name))
    return Waiting(events, actions, messages, connection.scalar(_EXPIRED, {"now": now}) or 0)


def always_open() -> bool:
    """Let everything be done."""
    return True


IsOpen = Callable[[], bool]
"""Says whether rules may run and deliveries go out now."""

_QUEUED = sa.select(queue.c.queue, sa.func.count()).group_by(queue.c.queue)
_EXPIRED = (
    sa.select(sa.func.count())
    .select_from(deliveries)
    .where(deliveries.c.status.in_(sorted(WAITING)), deliveries.c.expires_at < sa.bindparam("now"))
)
