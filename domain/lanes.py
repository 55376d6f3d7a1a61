"""A lane: the way to one service. While it is held, what is due there waits, and no attempt is counted."""

from __future__ import annotations

from typing import Literal

from domain.civil_time import Instant
from domain.events import DomainEvent
from domain.ids import entity

HeldBy = Literal["misconfigured", "try_later", "unknown"]
"""The kind of the ending that made a lane be held."""


def lane_of(service: str) -> str:
    """Return how the lane of a service is written, which is its stream too: `lane/access`."""
    return entity("lane", service)


def channel_lane(channel: str) -> str:
    """Return the name of the lane of a channel, which no service has: `channel-email`."""
    return f"channel-{channel}"


class LaneHeld(DomainEvent):
    """Calls of a service are pointless for now: it is set up wrongly, or has failed too often in a row.

    `failures` is in how many calls in a row, `reason` what the last of them said. One dossier and one notice
    stand for it, however much waits.
    """

    TOPIC = "lane.held"

    service: str
    ending: HeldBy
    reason: str
    failures: int


class LaneRecovered(DomainEvent):
    """A service answers again, and what has waited for it goes on."""

    TOPIC = "lane.recovered"

    service: str
    held_since: Instant
    reason: str = ""
