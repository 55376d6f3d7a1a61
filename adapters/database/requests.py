"""Requests to tell somebody are written down, with a place in the queue of what is to become deliveries."""

from __future__ import annotations

from adapters.database.personal import PersonalRow, write
from adapters.database.queue import Waiting, enqueue
from adapters.database.unit_of_work import UnitOfWork
from domain.notifications import Requested

QUEUE = "notifications"
"""The queue of notifications that are not expanded yet."""


def write_down(work: UnitOfWork, requested: Requested) -> None:
    """Record a request that was not made before, so that it cannot be forgotten any more."""
    event = requested.event
    if event.payload:
        write(work.connection, [PersonalRow(event.member, event.payload, requested.payload)])
    enqueue(work.connection, [Waiting(QUEUE, event.notification)])
    work.append([event])
