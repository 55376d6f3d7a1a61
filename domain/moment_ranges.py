"""Which moments may be due in a window of time: stretches of what the index of moments is sorted by.

Elapsed offsets ask for a stretch of instants. Calendar offsets ask for stretches of wall times in one zone:
exact where its clock is steady, days wider where it is changed; whoever asks filters by exact due times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from domain.civil_time import instant_of, start_of_date, wall_of
from domain.durations import Kind
from domain.offsets import Offset

DAY = timedelta(days=1)
MIDNIGHT = time()

MARGIN = 2 * DAY
"""More than a change of a zone's clock can move anything: it may skip a whole date."""

Direction = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Window:
    """The instants that a look covers: later than `after`, up to and including `up_to`."""

    after: datetime
    up_to: datetime

    def __contains__(self, instant: object) -> bool:
        return isinstance(instant, datetime) and self.after < instant <= self.up_to

    def until(self, instant: datetime) -> Window:
        """Return the first part of this window, which ends at an instant."""
        return Window(self.after, min(instant, self.up_to))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Anchors later than `first`, up to and including `last`, which may be due in a window.

    Wall times are written as if they were UTC. Each anchor is due when it shows, less `lead`, or all of them
    are due `at` once. Where neither is known, they may be due at any time.
    """

    first: datetime
    last: datetime
    lead: timedelta | None = None
    at: datetime | None = None


def needs_calendar(offset: Offset | None) -> bool:
    """Say whether an offset counts on the calendar of a zone; else it shifts the instants of moments."""
    return offset is not None and not offset.is_elapsed and (offset.amount > 0 or offset.at is not None)


def of_instants(offset: Offset | None, direction: Direction, window: Window) -> Stretch:
    """Return the instants of moments that are due in a window by an offset that needs no calendar."""
    seconds = offset.amount if offset is not None else 0
    lead = timedelta(seconds=seconds if direction == "before" else -seconds)
    return Stretch(window.after + lead, window.up_to + lead, lead)


@dataclass(frozen=True, slots=True)
class Calendar:
    """A window as the calendar of one zone shows it, for many offsets."""

    zone: ZoneInfo
    window: Window
    first: datetime
    last: datetime
    ahead: timedelta
    is_steady: bool
    _reached: dict[time | None, list[tuple[date, datetime]]] = field(default_factory=dict)

    @classmethod
    def of(cls, zone: ZoneInfo, window: Window) -> Calendar:
        """Return the calendar of a zone in a window."""
        first, last = (_shown(instant, zone) for instant in (window.after, window.up_to))
        near = (window.after - MARGIN, window.after, window.up_to, window.up_to + MARGIN)
        is_steady = len({instant.astimezone(zone).utcoffset() for instant in near}) == 1 and last - first < DAY
        return cls(zone, window, first, last, first - window.after, is_steady)

    def of_walls(self, offset: Offset, direction: Direction, *, dated: bool) -> list[Stretch]:
        """Return the wall times of anchors in this zone that may be due in the window by a calendar offset.

        `dated` says that the anchors are dates, which stand at their midnight.
        """
        if not self.is_steady:
            return [self._wide(offset, direction)]
        if dated:
            return list(self._of_dates(offset, direction))
        if offset.at is None:
            return list(self._of_same_clock(offset, direction))
        return list(self._of_clock(offset, direction))

    def _of_same_clock(self, offset: Offset, direction: Direction) -> Iterator[Stretch]:
        """Yield the anchors whose own clock time is reached on the date that the steps lead to."""
        if offset.kind is Kind.DAYS:
            steps = timedelta(days=offset.amount if direction == "before" else -offset.amount)
            yield Stretch(self.first + steps, self.last + steps, steps + self.ahead)
            return
        for day in _dates(self.first, self.last):
            first, last = max(self.first, _begin(day)), min(self.last, _end(day))
            for date_before in stepping_to(offset, direction, day):
                steps = _begin(date_before) - _begin(day)
                yield Stretch(first + steps, last + steps, steps + self.ahead)

    def _of_clock(self, offset: Offset, direction: Direction) -> Iterator[Stretch]:
        """Yield the anchors on the dates from which the steps lead to a clock time in the window."""
        for day, instant in self._reaching(offset.at):
            for anchor_day in stepping_to(offset, direction, day):
                yield Stretch(_begin(anchor_day), _end(anchor_day), at=instant)
        if not offset.amount:
            # On its own date a clock time never leads past the anchor itself.
            yield Stretch(self.first, self.last, self.ahead)

    def _of_dates(self, offset: Offset, direction: Direction) -> Iterator[Stretch]:
        """Yield the dates from which the steps lead to a midnight, or to a clock time, in the window."""
        # After a date, steps lead to the end of a date, and never to a time within the date itself.
        to_the_end = direction == "after" and (offset.at is None or not offset.amount)
        for day, instant in self._reaching(None if to_the_end else offset.at):
            for anchor_day in stepping_to(offset, direction, day - DAY if to_the_end else day):
                yield Stretch(_begin(anchor_day), _begin(anchor_day) + _INSTANT, at=instant)

    def _reaching(self, clock: time | None) -> list[tuple[date, datetime]]:
        """Return the dates on which a clock time, or the first instant, lies in the window, and when it does."""
        if clock not in self._reached:
            every = ((day, self._instant(day, clock)) for day in _dates(self.first, self.last))
            self._reached[clock] = [(day, instant) for day, instant in every if instant in self.window]
        return self._reached[clock]

    def _instant(self, day: date, clock: time | None) -> datetime:
        if clock is None:
            return start_of_date(day, self.zone)
        return instant_of(datetime.combine(day, clock), self.zone)

    def _wide(self, offset: Offset, direction: Direction) -> Stretch:
        """Return more than everything that may be due, at whatever time."""
        step = _backwards(offset, direction)
        first = step((self.first - MARGIN).date()) - _STRAY
        last = step((self.last + MARGIN).date()) + _STRAY
        return Stretch(_begin(first), _end(last))


@lru_cache(maxsize=4096)
def stepping_to(offset: Offset, direction: Direction, day: date) -> tuple[date, ...]:
    """Return the dates from which the calendar steps of an offset lead to a date; there may be none, or four."""
    back = _backwards(offset, direction)(day)
    if offset.kind is Kind.DAYS:
        return (back,)
    step = offset.day_before if direction == "before" else offset.day_after
    near = (back + timedelta(days=days) for days in range(-_STRAY.days, _STRAY.days + 1))
    return tuple(found for found in near if step(found) == day)


def _backwards(offset: Offset, direction: Direction) -> Callable[[date], date]:
    return offset.day_after if direction == "before" else offset.day_before


def _shown(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return the wall time of an instant, written as if it were UTC."""
    return wall_of(instant, zone).replace(tzinfo=UTC)


def _dates(first: datetime, last: datetime) -> Iterator[date]:
    day = first.date()
    while day <= last.date():
        yield day
        day += DAY


def _begin(day: date) -> datetime:
    return datetime.combine(day, MIDNIGHT, UTC) - _INSTANT


def _end(day: date) -> datetime:
    return datetime.combine(day, time.max, UTC)


_INSTANT = timedelta(microseconds=1)
_STRAY = timedelta(days=4)
"""More than the days by which steps of months differ from each other."""
