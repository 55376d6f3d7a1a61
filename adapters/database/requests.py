"""Requests to tell somebody are written down, with a place in the queue of what is to become deliveries."""

from __future__ import annotations

from adapters.database.personal import PersonalRow, write
from adapters.database.queue import Waiting, enqueue, rank_of
from adapters.database.unit_of_work import UnitOfWork
from domain.notifications import Requested

QUEUE = "notifications"
"""The queue of notifications that are not expanded yet."""


def write_down(work: UnitOfWork, *requested: Requested) -> None:
    """Record requests that were not made before, so that they cannot be forgotten any more."""
    if not requested:
        return
    events = [each.event for each in requested]
    rows = [PersonalRow(each.event.member, each.event.payload, each.payload) for each in requested]
    write(work.connection, [row for row in rows if row.ref])
    enqueue(work.connection, [Waiting(QUEUE, event.notification, rank=rank_of(event.at)) for event in events])
    work.append(events)
