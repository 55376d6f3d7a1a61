"""How the events of the demo come in: as real feeds send them, not as a textbook would."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from random import Random
from typing import Any

from adapters.demo.history import SEED, Happening, happenings

Event = dict[str, Any]
"""A CloudEvent in its JSON form."""

LATE = timedelta(hours=9)
"""The most that an event comes behind others that happened after it."""


def feed(midnight: datetime) -> list[Event]:
    """Return the events of the month before a midnight in the order in which they arrive."""
    return [event for _, event in arrivals(midnight)]


def arrivals(midnight: datetime) -> list[tuple[datetime, Event]]:
    """Return the events of the month before a midnight, each with when it arrives, in that order.

    Some come twice, some late, one under an id that was used for another content, and one with a fault.
    """
    chance = Random(SEED + 1)  # noqa: S311 - a story, not a secret
    events = list(map(_event, range(1, 10_000), happenings(midnight)))
    arriving = [(_arrival(event, chance), event) for event in events]
    arriving += [(_time(event) + LATE, event) for event in chance.sample(events, 12)]
    arriving += [(midnight, one) for one in _spoiled(events)]
    return sorted(arriving, key=lambda pair: pair[0])


def _event(number: int, happening: Happening) -> Event:
    return {
        "specversion": "1.0",
        "id": f"demo-{number:04d}",
        "source": happening.source,
        "type": happening.type,
        "time": happening.time.isoformat(),
        "data": happening.data,
    }


def _arrival(event: Event, chance: Random) -> datetime:
    """Return when an event comes in: most at once, one in eight late."""
    return _time(event) + (LATE * chance.random() if chance.random() < 0.125 else timedelta())


def _time(event: Event) -> datetime:
    return datetime.fromisoformat(event["time"])


def _spoiled(events: Iterable[Event]) -> list[Event]:
    """Return an event that takes over the id of another, and one whose time says nothing of its zone."""
    bookings = [event for event in events if event["type"] == "booking.created"]
    first, last = bookings[0], bookings[-1]
    reused = {**first, "data": {**first["data"], "attendees": first["data"]["attendees"] + 1}}
    naive = {**last, "id": "demo-naive", "data": {**last["data"], "starts_at": last["data"]["starts_at"][:19]}}
    return [reused, naive]
