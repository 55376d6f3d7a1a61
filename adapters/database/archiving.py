"""What waits for a rule that is archived comes up at once, so that the re-check cancels it with that reason."""

from __future__ import annotations

import sqlalchemy as sa

from adapters.database.claims import QUEUE
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.queue import hasten
from adapters.database.schema import queue
from adapters.database.stored_executions import read_executions

CHUNK = 500
"""Waiting runs that are looked at together."""


def hasten_runs_of(log: EventLog, rule_id: str) -> int:
    """Make the waiting runs of a rule due now; return how many those are."""
    last, total = "", 0
    while True:
        with reading(log.engine) as connection:
            items = list(connection.scalars(_FREE, {"in_queue": QUEUE, "last": last}))
            found = read_executions(connection, log.mapper, items).readable
        if not items:
            return total
        last = items[-1]
        waiting = [key for key, execution in found.items() if execution.claim.rule == rule_id]
        if waiting:
            with writing(log.engine) as connection:
                total += hasten(connection, QUEUE, waiting)


_FREE = (
    sa.select(queue.c.item)
    .where(queue.c.queue == sa.bindparam("in_queue"), queue.c.owner.is_(None), queue.c.item > sa.bindparam("last"))
    .order_by(queue.c.item)
    .limit(CHUNK)
)
