"""How fast a channel may go, and how the places of one round are shared between its lanes: pure arithmetic.

What a provider allows is kept as the instant at which nothing was left; so a bucket is one value, and whoever
takes from it can be any worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.deliveries import Lane

_SECOND = 1_000_000
_FLOOR = 10
MOMENT = 0.3
"""Seconds for which a channel is given work at a time."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many messages a second at most; after a pause as many at once as one second allows, and one at least."""

    per_second: float

    def left(self, empty_at: datetime | None, at: datetime) -> int:
        """Return how many messages may go out at an instant, if nothing was left at another."""
        since = at - self._bounded(empty_at, at)
        return int(since / timedelta(microseconds=1) * self.per_second / _SECOND + 1e-6)

    def empty_after(self, count: int, empty_at: datetime | None, at: datetime) -> datetime:
        """Return when nothing was left, once so many have gone out at an instant."""
        return self._bounded(empty_at, at) + self._time_of(count)

    def next_at(self, empty_at: datetime) -> datetime:
        """Return when one message may go out again."""
        return empty_at + self._time_of(1)

    def _bounded(self, empty_at: datetime | None, at: datetime) -> datetime:
        fullest = at - self._time_of(max(1.0, self.per_second))
        if empty_at is None:
            return fullest
        # A clock that was set back would otherwise keep everything waiting until it has caught up.
        return min(max(empty_at, fullest), at)

    def _time_of(self, count: float) -> timedelta:
        return timedelta(microseconds=count / self.per_second * _SECOND)


def places_in_a_moment(seconds: float | None, *, width: int, first: int, most: int) -> int:
    """Return how many messages a channel is given at a time, where one call takes it so many seconds.

    They are what it does in a moment with `width` calls at a time, so that what has just come in and is urgent waits
    for one moment at most; and `first` so many, as long as nobody knows how long a call takes.
    """
    if seconds is None:
        return min(first, most)
    if seconds * most <= MOMENT * width:
        return most
    return max(width, int(MOMENT * width / seconds))


class LaneShare:
    """Shares the places of each round between the lanes of one channel.

    What is transactional goes first, but while both wait every tenth place is one of bulk, counted over rounds.
    """

    def __init__(self) -> None:
        self._tenths = 0

    def places(self, total: int, *, waiting: Mapping[Lane, bool]) -> dict[Lane, int]:
        """Return how many places each lane has of so many; one alone has all of them."""
        if not all(waiting.get(lane) for lane in ("transactional", "bulk")):
            return {lane: total if waits else 0 for lane, waits in waiting.items()}
        self._tenths += total
        bulk, self._tenths = divmod(self._tenths, _FLOOR)
        return {"transactional": total - bulk, "bulk": bulk}
