"""Quiet hours: when nobody is written to, and when that is over. This is their one definition.

They begin where the clock first shows the start, and are over where it last shows the end: in an hour that
there is twice nobody is woken early. A wall time that a gap skips means the end of the gap. With weekdays, the
day on which a night begins owns all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from domain.civil_time import as_instant, wall_of
from domain.spaces import WEEKDAYS, QuietHours
from domain.time_texts import parse_clock_time

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)
_DAYS_AROUND = 2
"""Days on both sides of a local date whose nights may reach an instant, also where a zone skips or repeats one."""


@dataclass(frozen=True, slots=True)
class QuietWindow:
    """Quiet hours on the clocks of one zone: from `start`, included, to `end`, which is not quiet any more."""

    start: time
    end: time
    days: frozenset[int]
    zone: ZoneInfo

    @classmethod
    def of(cls, hours: QuietHours, zone: ZoneInfo) -> QuietWindow:
        """Return the quiet hours of a space or a member in a zone; without weekdays, each day has them."""
        days = frozenset(map(WEEKDAYS.index, hours.days)) or frozenset(range(7))
        return cls(parse_clock_time(hours.start), parse_clock_time(hours.end), days, zone)

    def is_quiet(self, instant: datetime) -> bool:
        """Say whether nobody is written to at an instant."""
        return self.over_at(instant) != as_instant(instant)

    def over_at(self, instant: datetime) -> datetime:
        """Return the first instant, from this one on, that is not quiet: the instant itself where it is not."""
        reached = as_instant(instant)
        while (end := self._end_around(reached)) is not None:
            reached = end
        return reached

    def _end_around(self, instant: datetime) -> datetime | None:
        """Return the end of the night in which an instant lies, or None where it lies in none."""
        ends = (end for start, end in self._nights(instant) if start <= instant < end)
        return max(ends, default=None)

    def _nights(self, instant: datetime) -> Iterator[tuple[datetime, datetime]]:
        today = wall_of(instant, self.zone).date()
        wraps = self.end < self.start
        for offset in range(-_DAYS_AROUND, _DAYS_AROUND + 1):
            day = today + offset * _DAY
            if day.weekday() in self.days:
                last = day + _DAY if wraps else day
                yield (
                    first_shown(datetime.combine(day, self.start), self.zone),
                    last_shown(datetime.combine(last, self.end), self.zone),
                )


def first_shown(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the first instant at which the clocks of a zone show a wall time, or have skipped it."""
    early, late = _readings(wall, zone)
    return early if early <= late else _after_gap(wall, late, early, zone)


def last_shown(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the last instant at which the clocks of a zone show a wall time, or the one with which they skip it."""
    early, late = _readings(wall, zone)
    return late if early <= late else _after_gap(wall, late, early, zone)


def _readings(wall: datetime, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the instants of a wall time by the offsets before and after a change; in a gap they change places."""
    before, after = (as_instant(wall.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    return before, after


def _after_gap(wall: datetime, early: datetime, late: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant between two at which the clocks jump over a wall time; they do so at whole seconds."""
    before, after = early.replace(microsecond=0), late.replace(microsecond=0)
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if wall_of(middle, zone) < wall:
            before = middle
        else:
            after = middle
    return after
