"""The queues of the channels, two for each: what is transactional, and what is bulk.

A channel gives out places as its provider allows, first to what is transactional, and always some to bulk. What
may not go out now is skipped, and waits for nobody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, get_args

import sqlalchemy as sa

from adapters.database import send_rates
from adapters.database.queue import Lease, lease, next_due
from automations.notifications.pace import LaneShare, Rate
from domain.deliveries import Lane
from domain.webhooks import is_webhook_channel

LANES: tuple[Lane, ...] = get_args(Lane)
"""The lanes of a channel, in the order in which they are served."""

_PREFIX = "delivery:"


class Place(NamedTuple):
    """The channel and the lane of a queue."""

    channel: str
    lane: str


def queue_of(channel: str, lane: Lane) -> str:
    """Return the queue of what is to go out on a channel: `delivery:email:bulk`."""
    return f"{_PREFIX}{channel}:{lane}"


def place_of(queue_name: str) -> Place:
    """Return the channel and the lane of a queue of deliveries."""
    channel, _, lane = queue_name.removeprefix(_PREFIX).rpartition(":")
    return Place(channel, lane)


def is_delivery(queue_name: str) -> bool:
    """Say whether a queue is one of deliveries."""
    return queue_name.startswith(_PREFIX)


def is_to_webhook(queue_name: str) -> bool:
    """Say whether a queue is one of deliveries to a webhook."""
    return is_delivery(queue_name) and is_webhook_channel(place_of(queue_name).channel)


def is_to_people(queue_name: str) -> bool:
    """Say whether a queue is one of deliveries to people."""
    return is_delivery(queue_name) and not is_to_webhook(queue_name)


def has_due(connection: sa.Connection, channel: str, now: datetime) -> bool:
    """Say whether anything on a channel waits for its turn and could go out now."""
    dues = (next_due(connection, queue_of(channel, lane)) for lane in LANES)
    return any(due is not None and due <= now for due in dues)


class DeliveryQueue:
    """What one worker takes from the queues of all channels; `rates` says what providers allow, by channel."""

    def __init__(self, owner: str, rates: Mapping[str, Rate]) -> None:
        self._owner = owner
        self._rates = rates
        self._shares: defaultdict[str, LaneShare] = defaultdict(LaneShare)

    def lease(self, connection: sa.Connection, channel: str, limit: int, now: datetime) -> list[Lease]:
        """Take at most so many of the deliveries that are due on a channel, as far as its provider allows it."""
        rate = self._rates.get(channel)
        if rate is None:
            return self._shared(connection, channel, limit, now)
        limit = min(limit, send_rates.left(connection, channel, rate, now))
        leases = self._shared(connection, channel, limit, now) if limit else []
        send_rates.use(connection, channel, rate, len(leases), now)
        return leases

    def next_at(self, connection: sa.Connection, channel: str, due_at: datetime) -> datetime:
        """Return when something that is due may go out on a channel."""
        rate = self._rates.get(channel)
        allowed = send_rates.next_at(connection, channel, rate) if rate is not None else None
        return due_at if allowed is None else max(due_at, allowed)

    def _shared(self, connection: sa.Connection, channel: str, limit: int, now: datetime) -> list[Lease]:
        queues = {lane: queue_of(channel, lane) for lane in LANES}
        dues = {lane: next_due(connection, queue) for lane, queue in queues.items()}
        waiting = {lane: due is not None and due <= now for lane, due in dues.items()}
        leases: list[Lease] = []
        for lane, places in self._shares[channel].places(limit, waiting=waiting).items():
            # What one lane does not fill is the next one's.
            unfilled = limit - len(leases) if lane == LANES[-1] else places
            if places:
                leases += lease(connection, queues[lane], self._owner, unfilled, now)
        return leases
