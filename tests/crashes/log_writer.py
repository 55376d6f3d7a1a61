"""A process that writes one unit of work after the other until somebody kills it; told its database's URL."""

from __future__ import annotations

import sys

from adapters.database import log_queries
from adapters.database.engine import connect, reading
from adapters.database.event_log import EventLog
from adapters.database.queue import Waiting, enqueue
from adapters.database.unit_of_work import unit_of_work
from tests.adapters.database.samples import noted

FOLLOWER = "writer"


def write_next(log: EventLog) -> int:
    """Do the next unit of work: three events, a queue row and a position, all named after its number."""
    with reading(log.engine) as connection:
        done = log_queries.tracked_position(connection, FOLLOWER)
    name = f"unit-{done + 1}"
    with unit_of_work(log) as work:
        enqueue(work.connection, [Waiting("q", name)])
        work.append(noted(name, version) for version in (1, 2, 3))
        work.track(FOLLOWER, done + 1, after=done)
    return done + 1


if __name__ == "__main__":
    writing_log = EventLog(connect(sys.argv[1]))
    while True:
        print(write_next(writing_log), flush=True)
