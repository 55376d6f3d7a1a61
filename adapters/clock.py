"""The clock: the one file that asks the machine what time it is."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from domain.civil_time import as_instant


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """Return the instant in UTC; somebody may set this clock, also back."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds since some moment; they never go back, whoever sets the clock."""
        return time.monotonic()


class SimulatedClock:
    """A clock that moves when it is told to."""

    def __init__(self, start: datetime) -> None:
        self._now = as_instant(start)
        self._elapsed = timedelta()

    def now(self) -> datetime:
        """Return the instant in UTC."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds that have passed since this clock was made."""
        return self._elapsed.total_seconds()

    def advance(self, by: timedelta) -> None:
        """Let time pass; a negative time is refused."""
        if by < timedelta():
            raise ValueError(f"time does not pass backwards: {by}")
        self._now += by
        self._elapsed += by

    def set(self, instant: datetime) -> None:
        """Go to an instant: forward, the time between passes; back, none does."""
        target = as_instant(instant)
        self._elapsed += max(target - self._now, timedelta())
        self._now = target

    def jump(self, instant: datetime) -> None:
        """Show another instant without any time passing, as when somebody sets the clock of a machine."""
        self._now = as_instant(instant)
