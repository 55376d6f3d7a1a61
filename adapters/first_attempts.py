"""First attempts that begin with their deliveries, in one transaction: a round trip through the queue less."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import sqlalchemy as sa

from adapters.database.delivery_queue import has_due
from adapters.database.delivery_views import StoredView
from adapters.database.lanes import lane
from automations.notifications.calls import Calls
from automations.notifications.channel_lanes import WatchedChannel
from automations.notifications.dispatcher import Dispatcher, Prepared
from automations.notifications.letters import Writing
from automations.notifications.request import Begun
from domain.campaigns import campaign_of
from domain.deliveries import Delivery
from domain.lanes import channel_lane

LONGEST = 0.05
"""Seconds for which messages are written while others cannot write to the database; the rest goes by the queue."""


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Begins attempts on channels where nothing speaks for waiting (a `FirstAttempts`).

    That is where a repeat does no harm and calls are made one after the other, in no time; where nothing has failed,
    no rate is kept (`rated` are those with one), and nothing waits for its turn. What is bulk stands in line anyway.
    """

    channels: Mapping[str, WatchedChannel]
    dispatcher: Dispatcher[StoredView]
    writing: Writing
    calls: Calls
    monotonic: Callable[[], float]
    places: Callable[[str], int]
    rated: Container[str] = ()

    def begun(self, connection: sa.Connection, deliveries: Sequence[Begun], at: datetime) -> list[Prepared]:
        """Return the starts of attempts at those of these new deliveries that are sent at once."""
        since, places, found = self.monotonic(), dict[str, int](), list[Prepared]()
        for delivery, case in ((each.delivery, each.case) for each in deliveries):
            channel = delivery.asked.channel
            if channel not in places:
                places[channel] = self.places(channel) if self._is_open(connection, channel, at) else 0
            if case is None or not places[channel] or not _is_urgent_enough(delivery):
                continue
            if self.monotonic() - since > LONGEST:
                break
            prepared = self.dispatcher.prepare(delivery, at, partial(self.writing.letter, case))
            if prepared[1] is not None:  # what fails does so in its turn
                found.append(prepared)
                places[channel] -= 1
        return found

    def _is_open(self, connection: sa.Connection, channel: str, at: datetime) -> bool:
        watched = self.channels.get(channel)
        if watched is None or channel in self.rated or not watched.honours_keys or self.calls.width(channel) > 1:
            return False
        found = watched.found(lane(connection, channel_lane(channel)))
        return found.is_clear and not has_due(connection, channel, at)


def _is_urgent_enough(delivery: Delivery) -> bool:
    asked = delivery.asked
    return delivery.state == "pending" and asked.lane == "transactional" and not campaign_of(asked.producer)
