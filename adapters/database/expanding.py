"""Notifications become deliveries: each in one transaction, with the places of these in their queues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, Protocol

import sqlalchemy as sa

from adapters.database import log_queries, projecting
from adapters.database.deliveries import record_values
from adapters.database.delivery_beginnings import waiting
from adapters.database.delivery_views import DeliveryViews, StoredView
from adapters.database.event_log import EventLog
from adapters.database.log_queries import head_position, tracked_position
from adapters.database.published_templates import TemplatePublisher
from adapters.database.queue import Lease, complete, enqueue, enqueue_leased, lease, release
from adapters.database.requests import QUEUE
from adapters.database.unit_of_work import UnitOfWork, unit_of_work
from automations.notifications.decisions import Spread, without_spread
from automations.notifications.dispatcher import Prepared
from automations.notifications.request import Begun, begun, expanded, pushes, recipients_of
from automations.notifications.types import Types
from automations.notifications.wordings import Wordings
from automations.ports import Clock
from domain.errors import CorruptEvent
from domain.events import DomainEvent
from domain.ids import entity, id_of
from domain.notifications import STAFF, DeliveryRequested, NotificationExpanded
from projections.devices import reachable
from projections.members import staff

AT_ONCE = 250
"""Notifications that one transaction expands."""


class Expanded(NamedTuple):
    """How many notifications became how many deliveries, and how many wait until it is known who is staff.

    `begun` are first attempts whose start was recorded as well; `leases` are held for them.
    """

    notifications: int = 0
    deliveries: int = 0
    postponed: int = 0
    begun: Sequence[Prepared] = ()
    leases: Sequence[Lease] = ()


class FirstAttempts(Protocol):
    """What says which of the new deliveries are sent at once."""

    def begun(self, connection: sa.Connection, deliveries: Sequence[Begun], at: datetime) -> Sequence[Prepared]:
        """Return the starts of those attempts that are to be recorded with the beginning of their deliveries."""
        ...


class NothingAtOnce:
    """Lets everything stand in its queue first (a `FirstAttempts`)."""

    def begun(self, connection: sa.Connection, deliveries: Sequence[Begun], at: datetime) -> Sequence[Prepared]:
        """Return none."""
        return ()


NOTHING_AT_ONCE = NothingAtOnce()


class Expander:
    """Expands what was requested, for one worker."""

    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        owner: str,
        types: Types,
        views: DeliveryViews,
        wordings: Wordings | None = None,
        spread: Spread = without_spread,
    ) -> None:
        self._log = log
        self._views = views
        self._spread = spread
        self._clock = clock
        self._owner = owner
        self._types = types
        self._publisher = TemplatePublisher(wordings or Wordings())

    def expand(self, limit: int = AT_ONCE, first: FirstAttempts = NOTHING_AT_ONCE) -> Expanded:
        """Expand at most so many notifications; raises Conflict where another worker was faster."""
        with unit_of_work(self._log, "expand") as work:
            leases = lease(work.connection, QUEUE, self._owner, limit, self._clock.now())
            if not leases:
                return Expanded()
            requests = self._requests(work.connection, leases)
            later = {each.notification for each in requests if self._is_too_early(work.connection, each)}
            now = [each for each in requests if each.notification not in later]
            expanded = self._record(work, now, first) if now else Expanded()
            complete(work.connection, [each for each in leases if each.item not in later])
            release(work.connection, {each: None for each in leases if each.item in later})
        return expanded._replace(notifications=len(leases) - len(later), postponed=len(later))

    def _requests(self, connection: sa.Connection, leases: Sequence[Lease]) -> list[DeliveryRequested]:
        """Return what was requested and is not expanded yet, in turn; what cannot be read is set aside elsewhere."""
        found: dict[str, DomainEvent] = {}
        for row in log_queries.streams(connection, [entity("notification", each.item) for each in leases]):
            try:
                found[row.stream] = self._log.mapper.read(row)
            except CorruptEvent:
                continue
        in_turn = (found.get(entity("notification", each.item)) for each in leases)
        return [event for event in in_turn if isinstance(event, DeliveryRequested)]

    @staticmethod
    def _is_too_early(connection: sa.Connection, request: DeliveryRequested) -> bool:
        """Say whether it is not known yet who is staff now."""
        known = tracked_position(connection, projecting.FOLLOWER) if request.to == STAFF else None
        return known is not None and known < head_position(connection)

    def _record(self, work: UnitOfWork, requests: Sequence[DeliveryRequested], first: FirstAttempts) -> Expanded:
        at, people = self._clock.now(), staff(work.connection)
        devices = self._devices(work.connection, requests, people)
        asked = {request.stream: expanded(request, self._types, people, at, devices) for request in requests}
        view = self._views.at_head(work.connection, (each for several in asked.values() for each in several))
        begun_of = {stream: list(begun(several, view, at, self._spread)) for stream, several in asked.items()}
        checked = [each for several in begun_of.values() for each in several]
        going_on = self._worded(work, [each for each in checked if each.goes_on], at, view)
        attempts = first.begun(work.connection, list(going_on.values()), at)
        starts = {change.before.stream: change for change, _ in attempts}
        for request in requests:
            several = begun_of[request.stream]
            work.append([_expanded(request, at, len(several))])
            for each in several:
                stream = each.delivery.stream
                attempt = starts[stream].steps if stream in starts else ()
                work.append([going_on.get(stream, each).delivery.asked, *each.steps, *attempt])
        record_values(work, starts.values())
        enqueue(work.connection, (waiting(each.delivery) for stream, each in going_on.items() if stream not in starts))
        places = [waiting(change.before) for change in starts.values()]
        return Expanded(0, len(checked), 0, attempts, enqueue_leased(work.connection, places, self._owner))

    def _worded(self, work: UnitOfWork, begun: Sequence[Begun], at: datetime, view: StoredView) -> dict[str, Begun]:
        """Return deliveries by their stream, with the language and the version that they begin with."""
        worded = self._publisher.worded(work, [each.delivery.asked for each in begun], at, view.entities)
        return {
            asked.stream: replace(each, delivery=replace(each.delivery, asked=asked))
            for each, asked in zip(begun, worded, strict=True)
        }

    def _devices(
        self, connection: sa.Connection, requests: Sequence[DeliveryRequested], people: Sequence[str]
    ) -> dict[str, list[str]]:
        """Return the devices that pushes go to, of those who may get any."""
        asked = [each for each in requests if pushes(each, self._types)]
        members = {id_of(to) for each in asked for to in recipients_of(each, people)}
        return reachable(connection, sorted(members)) if members else {}


def _expanded(request: DeliveryRequested, at: datetime, count: int) -> NotificationExpanded:
    version = request.version + 1
    return NotificationExpanded(stream=request.stream, version=version, at=at, cause=request.cause, deliveries=count)
