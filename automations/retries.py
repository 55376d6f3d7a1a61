"""When a call to a service is tried again: pure arithmetic over the attempt's number and the instants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

SERVICE_DELAYS = (
    timedelta(seconds=10),
    timedelta(seconds=30),
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(minutes=30),
    timedelta(hours=1),
    timedelta(hours=2),
    timedelta(hours=4),
    timedelta(hours=8),
)
"""Waits after the first, second, … attempt at a service call (semantics 4)."""

LONGEST_WAIT = timedelta(days=366)
"""No date lies further ahead, whatever a service asks for."""

Jitter = Callable[[], float]
"""Returns a factor from 0.8 to 1.2; the simulated clock's is always 1."""


@dataclass(frozen=True, slots=True)
class RetrySchedule:
    """Waits between attempts, bounded by their number and by an age counted from the first attempt."""

    delays: tuple[timedelta, ...]
    oldest: timedelta

    def next_attempt(
        self,
        attempt: int,
        *,
        first: datetime,
        now: datetime,
        jitter: float = 1.0,
        asked: timedelta | None = None,
    ) -> datetime | None:
        """Return when to try again after this attempt (counted from 1) failed at `now`; None gives up.

        `asked` is what the service asked for: the wait is never shorter, and jitter then only adds to it.
        """
        if attempt > len(self.delays):
            return None
        wait = self.delays[attempt - 1] * jitter
        if asked is not None:
            wait = max(wait, min(asked, LONGEST_WAIT) * max(jitter, 1.0))
        again = now + wait
        return again if again - first <= self.oldest else None


SERVICE_RETRIES = RetrySchedule(SERVICE_DELAYS, oldest=timedelta(hours=24))
"""The schedule of service calls: ten waits, at most 24 hours in all."""
