"""Notifications become deliveries: each in one transaction, with the places of these in their queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa

from adapters.database import log_queries, projecting
from adapters.database.event_log import EventLog
from adapters.database.log_queries import head_position, tracked_position
from adapters.database.queue import Lease, Waiting, complete, enqueue, lease, release
from adapters.database.requests import QUEUE
from adapters.database.unit_of_work import UnitOfWork, unit_of_work
from automations.notifications.request import expanded
from automations.notifications.types import Types
from automations.ports import Clock
from domain.deliveries import DeliveryPending
from domain.errors import CorruptEvent
from domain.events import DomainEvent
from domain.ids import entity, id_of
from domain.notifications import STAFF, DeliveryRequested, NotificationExpanded
from projections.members import staff

AT_ONCE = 100
"""Notifications that one transaction expands."""

RANKS = {"transactional": 0, "bulk": 1}
"""What is due at the same instant goes out in this order."""


class Expanded(NamedTuple):
    """How many notifications became how many deliveries, and how many wait until it is known who is staff."""

    notifications: int = 0
    deliveries: int = 0
    postponed: int = 0


class Expander:
    """Expands what was requested, for one worker."""

    def __init__(self, log: EventLog, clock: Clock, owner: str, types: Types) -> None:
        self._log = log
        self._clock = clock
        self._owner = owner
        self._types = types

    def expand(self, limit: int = AT_ONCE) -> Expanded:
        """Expand at most so many notifications; raises Conflict where another worker was faster."""
        with unit_of_work(self._log, "expand") as work:
            leases = lease(work.connection, QUEUE, self._owner, limit, self._clock.now())
            if not leases:
                return Expanded()
            requests = self._requests(work.connection, leases)
            later = {each.notification for each in requests if self._is_too_early(work.connection, each)}
            deliveries = self._record(work, [each for each in requests if each.notification not in later])
            complete(work.connection, [each for each in leases if each.item not in later])
            release(work.connection, {each: None for each in leases if each.item in later})
        return Expanded(len(leases) - len(later), deliveries, len(later))

    def _requests(self, connection: sa.Connection, leases: Sequence[Lease]) -> list[DeliveryRequested]:
        """Return what was requested and is not expanded yet; what cannot be read is set aside elsewhere."""
        found: dict[str, DomainEvent] = {}
        for row in log_queries.streams(connection, [entity("notification", each.item) for each in leases]):
            try:
                found[row.stream] = self._log.mapper.read(row)
            except CorruptEvent:
                continue
        return [event for event in found.values() if isinstance(event, DeliveryRequested)]

    @staticmethod
    def _is_too_early(connection: sa.Connection, request: DeliveryRequested) -> bool:
        """Say whether it is not known yet who is staff now."""
        known = tracked_position(connection, projecting.FOLLOWER) if request.to == STAFF else None
        return known is not None and known < head_position(connection)

    def _record(self, work: UnitOfWork, requests: Sequence[DeliveryRequested]) -> int:
        at, people = self._clock.now(), staff(work.connection) if requests else []
        begun: list[DeliveryPending] = []
        for request in requests:
            deliveries = expanded(request, self._types, people, at)
            count = NotificationExpanded(
                stream=request.stream,
                version=request.version + 1,
                at=at,
                cause=request.cause,
                deliveries=len(deliveries),
            )
            work.append([count, *deliveries])
            begun += deliveries
        enqueue(work.connection, [waiting(each) for each in begun])
        return len(begun)


def queue_of(channel: str) -> str:
    """Return the queue of what is to go out on a channel: `delivery:email`."""
    return f"delivery:{channel}"


def waiting(delivery: DeliveryPending) -> Waiting:
    """Return the place of a new delivery in the queue of its channel."""
    return Waiting(queue_of(delivery.channel), id_of(delivery.stream), rank=RANKS[delivery.lane])
