"""Campaigns over the log: started, decided about, and expanded page by page.

A page becomes notifications only when little of its kind still waits, so that a campaign goes out as fast as its
channel, and whoever pauses it keeps most of it back.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from adapters.database import log_queries, queue
from adapters.database.delivery_queue import is_delivery, place_of
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.event_mapper import EventMapper
from adapters.database.personal import PersonalRow, StoredPersonalValues, write
from adapters.database.queue import Lease, Waiting
from adapters.database.queue_dues import next_dues
from adapters.database.requests import QUEUE as NOTIFICATIONS
from adapters.database.schema import queue as table
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from automations.ports import Clock
from domain import campaigns
from domain.campaigns import PAGE, Campaign, CampaignAct, CampaignAddressed
from domain.errors import CorruptEvent, InvalidInput
from domain.facts import PersonalRef
from domain.ids import entity, id_of
from domain.notifications import DeliveryRequested, notification_of

QUEUE = "campaigns"
"""The queue of campaigns that have pages left."""

BULK_RANK = 1 << 50
"""From where on notifications of campaigns stand behind those of all others."""


class Campaigns:
    """Starts campaigns, and decides about them, for staff."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def start(
        self, campaign: str, type_name: str, members: Sequence[str], payload: Mapping[str, Any], by: str
    ) -> Campaign:
        """Start a campaign under an id of the caller's, once; the same again changes nothing.

        Raises InvalidInput where the id stands for another campaign, or nobody is addressed.
        """

        def attempt() -> Campaign:
            with unit_of_work(self._log, "campaign") as work:
                known = read_campaign(work.connection, self._log.mapper, campaign)
                if known is None:
                    return self._started(work, campaign, type_name, members, payload, by)
                if not self._is_same(work.connection, known, type_name, members, payload):
                    raise InvalidInput(
                        f"the campaign {campaign!r} is there already, with another type, text or members"
                    )
                return known

        return retrying(attempt, sleep=time.sleep)

    def act(self, campaign: str, act: type[CampaignAct], by: str) -> bool:
        """Pause, resume or cancel a campaign; say whether that changed anything."""

        def attempt() -> bool:
            with unit_of_work(self._log, "campaign") as work:
                known = _required(read_campaign(work.connection, self._log.mapper, campaign), campaign)
                event = campaigns.acted(known, act, by=by, at=self._clock.now())
                if event is None:
                    return False
                work.append([event])
                _rearrange(work, known.after(event))
                return True

        return retrying(attempt, sleep=time.sleep)

    def all(self) -> list[Campaign]:
        """Return every campaign, by name."""
        with reading(self._log.engine) as connection:
            streams = log_queries.streams_of_kind(connection, "campaign", "", sys.maxsize)
            found = (read_campaign(connection, self._log.mapper, id_of(stream)) for stream in streams)
            return [campaign for campaign in found if campaign is not None]

    def require(self, campaign: str) -> Campaign:
        """Return a campaign; raises InvalidInput where there is none."""
        with reading(self._log.engine) as connection:
            return _required(read_campaign(connection, self._log.mapper, campaign), campaign)

    def _started(
        self,
        work: UnitOfWork,
        campaign: str,
        type_name: str,
        members: Sequence[str],
        payload: Mapping[str, Any],
        by: str,
    ) -> Campaign:
        now = self._clock.now()
        events = campaigns.started(campaign, type_name, members, has_payload=bool(payload), by=by, at=now)
        state = campaigns.folded(events)
        assert state is not None
        if payload:
            write(work.connection, [PersonalRow("", state.started.payload, dict(payload))])
        queue.enqueue(work.connection, [Waiting(QUEUE, campaign)])
        work.append(events)
        return state

    def _is_same(
        self,
        connection: sa.Connection,
        known: Campaign,
        type_name: str,
        members: Sequence[str],
        payload: Mapping[str, Any],
    ) -> bool:
        before = StoredPersonalValues(connection).read(PersonalRef("", known.started.payload))
        addressed = [
            member
            for row in log_queries.streams(connection, [campaigns.members_stream(known.id)])
            for member in _members(self._log.mapper, row)
        ]
        same_text = known.started.type == type_name and (before or {}) == payload
        return same_text and addressed == list(dict.fromkeys(members))


class CampaignExpander:
    """Expands the next page of a campaign, for one worker."""

    def __init__(self, log: EventLog, clock: Clock, owner: str) -> None:
        self._log = log
        self._clock = clock
        self._owner = owner

    def expand(self) -> bool:
        """Expand a page of the campaign whose turn it is, if there is room; raises Conflict after a race."""
        with unit_of_work(self._log, "campaign page") as work:
            if is_crowded(work.connection):
                return False
            now = self._clock.now()
            leases = queue.lease(work.connection, QUEUE, self._owner, 1, now)
            for lease in leases:
                self._expand(work, lease, now)
        return bool(leases)

    def _expand(self, work: UnitOfWork, lease: Lease, now: datetime) -> None:
        campaign = read_campaign(work.connection, self._log.mapper, lease.item)
        if campaign is None or campaign.state != "running":
            queue.complete(work.connection, [lease])
            return
        requests = [_request(campaign, member, now) for member in self._page(work.connection, campaign)]
        expanded = campaigns.page_expanded(campaign, now)
        work.append([expanded, *requests])
        rank = BULK_RANK + queue.rank_of(now)
        queue.enqueue(work.connection, [Waiting(NOTIFICATIONS, each.notification, rank=rank) for each in requests])
        if campaign.after(expanded).state == "running":
            queue.release(work.connection, {lease: now})  # at the end of the line, so that others get their turn
        else:
            queue.complete(work.connection, [lease])

    def _page(self, connection: sa.Connection, campaign: Campaign) -> Iterable[str]:
        stream = campaigns.members_stream(campaign.id)
        row = next(iter(log_queries.streams(connection, [stream], {stream: campaign.expanded})))
        return _members(self._log.mapper, row)


def read_campaign(connection: sa.Connection, mapper: EventMapper, campaign: str) -> Campaign | None:
    """Return a campaign as it is now, or None where there is none."""
    return campaigns.folded(
        mapper.read(row) for row in log_queries.streams(connection, [campaigns.campaign_stream(campaign)])
    )


def _required(found: Campaign | None, name: str) -> Campaign:
    if found is None:
        raise InvalidInput(f"there is no campaign {name!r}; `semel campaign list` shows all")
    return found


def _members(mapper: EventMapper, row: log_queries.StoredRow) -> tuple[str, ...]:
    event = mapper.read(row)
    if not isinstance(event, CampaignAddressed):
        raise CorruptEvent(row.stream, row.version, row.topic, "it is no page of members")
    return event.members


def _request(campaign: Campaign, member: str, at: datetime) -> DeliveryRequested:
    producer = campaigns.producer_of(campaign.id)
    return DeliveryRequested(
        stream=notification_of(producer, member),
        version=1,
        at=at,
        producer=producer,
        idempotency_key=member,
        type=campaign.started.type,
        to=entity("member", member),
        payload=campaign.started.payload,
    )


def _rearrange(work: UnitOfWork, campaign: Campaign) -> None:
    """Let what waits behind a campaign go on, to be sent or cancelled, and the campaign have its next turn."""
    if campaign.stopped == "paused":
        return
    behind = campaign.started.stream
    for name in work.connection.scalars(_QUEUES_BEHIND, {"of_lane": behind}).all():
        queue.let_through(work.connection, name, behind)
    if campaign.state == "running":
        queue.withdraw(work.connection, QUEUE, [campaign.id])
        queue.enqueue(work.connection, [Waiting(QUEUE, campaign.id)])
    work.wake()


def is_crowded(connection: sa.Connection) -> bool:
    """Say whether a page or more of what is bulk still waits."""
    bulk = [name for name in next_dues(connection) if is_delivery(name) and place_of(name).lane == "bulk"]
    waiting = [(NOTIFICATIONS, BULK_RANK), *((name, 0) for name in bulk)]
    counts = (
        connection.scalar(_WAITING, {"in_queue": name, "least": rank, "limit": PAGE}) or 0 for name, rank in waiting
    )
    return sum(counts) >= PAGE


_QUEUES_BEHIND = sa.select(table.c.queue).where(table.c.lane == sa.bindparam("of_lane")).distinct()
_SOME = (
    sa.select(table.c.item)
    .where(
        table.c.queue == sa.bindparam("in_queue"),
        table.c.owner.is_(None),
        table.c.lane.is_(None),
        table.c.rank >= sa.bindparam("least"),
    )
    .limit(sa.bindparam("limit"))
    .subquery()
)
_WAITING = sa.select(sa.func.count()).select_from(_SOME)
