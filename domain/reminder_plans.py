"""What a reminder's calendar says, and from when on: each change of it begins another plan.

What was due before a change stays due; so the plans of a reminder are kept apart, in the order of their facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import accumulate, groupby
from zoneinfo import ZoneInfo

from domain.civil_time import instant_of, local_date, zone, zone_names
from domain.facts import Entity, Stamp, Told
from domain.recurrences import Recurrence
from domain.time_texts import parse_clock_time

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""Nothing is due before or after; so no zone's offset leads out of the calendar."""

CLOCK = ("at", "time_zone")
"""The fields that decide at which instant an occurrence of a given date is due."""

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Due:
    """A date that a plan comes to, with the wall time that it names and the instant of that."""

    date: date
    wall: datetime
    instant: datetime


@dataclass(frozen=True)
class Plan:
    """A reminder's calendar from one fact until the next that changed it.

    `number` is that of the change that made the clock time, and 1 for the first one. A plan without a due
    date and a recurrence comes to nothing, as that of a cancelled reminder does.
    """

    since: datetime
    known_at: datetime
    number: int
    zone: ZoneInfo
    at: time = time.min
    due_on: date | None = None
    recurrence: Recurrence | None = None

    @property
    def is_over(self) -> bool:
        """Say whether nothing comes of this plan."""
        return self.due_on is None and self.recurrence is None

    @property
    def is_once(self) -> bool:
        """Say whether this plan has a single occurrence."""
        return self.due_on is not None

    @cached_property
    def told_on(self) -> date:
        """Return the local date on which the plan began to hold."""
        return local_date(self.since, self.zone)

    def between(self, after: datetime, up_to: datetime) -> Iterator[Due]:
        """Yield what the calendar comes to after an instant, up to and including another, in order."""
        after, up_to = max(after, EARLIEST), min(up_to, LATEST)
        if self.due_on is not None:
            due = self.on(self.due_on)
            return iter(()) if due is None or not after < due.instant <= up_to else iter((due,))
        return self._recurring(after, up_to)

    def on(self, day: date) -> Due | None:
        """Return what the calendar comes to on a date, or None."""
        if self.due_on == day or (self.recurrence is not None and self._has(day, self.recurrence)):
            wall = datetime.combine(day, self.at)
            return Due(day, wall, instant_of(wall, self.zone)) if _is_in_range(day) else None
        return None

    @staticmethod
    def _has(day: date, recurrence: Recurrence) -> bool:
        return _is_in_range(day) and next(recurrence.between(day - _DAY, day), None) is not None

    def _recurring(self, after: datetime, up_to: datetime) -> Iterator[Due]:
        if self.recurrence is None or after >= up_to:
            return
        for wall, instant in self.recurrence.instants_after(after, self.zone):
            if not _is_in_range(wall.date()) or instant > up_to:
                return
            yield Due(wall.date(), wall, instant)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The changes of a reminder's times by the version that recorded them, numbered in that order.

    Recording decides and not the time of the facts: a late one must give no other number to what was done.
    """

    ranks: Mapping[int, int]

    @classmethod
    def of(cls, reminder: Entity) -> Numbers:
        """Number everything that a clock time or a snooze was told by; the first is 1."""
        told = {told.version for name in CLOCK for told in reminder.history.get(name, ())}
        snoozed = {part.version for part in reminder.parts.values() if part.values["type"] == "reminder.snoozed"}
        return cls({version: number for number, version in enumerate(sorted(told | snoozed), start=1)})

    def __getitem__(self, version: int) -> int:
        return self.ranks[version]


def plans_of(reminder: Entity, default_zone: ZoneInfo) -> tuple[Plan, ...]:
    """Return the plans of a reminder in the order in which they began.

    `default_zone` holds where the reminder names no zone of its own.
    """
    stages = list(accumulate(_in_order(reminder.history), _told_together))
    clocks = _numbered_clocks(stages, Numbers.of(reminder))
    alike = (list(group) for _, group in groupby(stages, _said))
    return tuple(_plan(group, clocks[_clock(group[0])], default_zone) for group in alike)


def _in_order(history: Mapping[str, tuple[Told, ...]]) -> Iterator[dict[str, Told]]:
    by_stamp: dict[Stamp, dict[str, Told]] = {}
    for name, values in history.items():
        for told in values:
            by_stamp.setdefault(told.stamp, {})[name] = told
    return (by_stamp[stamp] for stamp in sorted(by_stamp))


def _told_together(told: dict[str, Told], news: dict[str, Told]) -> dict[str, Told]:
    return {**told, **news}


def _said(stage: Mapping[str, Told]) -> dict[str, object]:
    return {**{name: told.value for name, told in stage.items() if told.value is not None}, "at": _time(stage)}


def _clock(stage: Mapping[str, Told]) -> tuple[object, ...]:
    return _time(stage), _value(stage, "time_zone")


def _numbered_clocks(stages: list[dict[str, Told]], numbers: Numbers) -> dict[tuple[object, ...], int]:
    """Return the number of each clock time: one that comes back is the first one's, since its instants are."""
    clocks: dict[tuple[object, ...], int] = {}
    for stage in stages:
        made_by = max((stage[name].version for name in CLOCK if name in stage), default=0)
        number = numbers[made_by] if made_by else 1
        clocks[_clock(stage)] = min(number, clocks.get(_clock(stage), number))
    return clocks


def _plan(stages: list[dict[str, Told]], number: int, default_zone: ZoneInfo) -> Plan:
    """Return the plan that one stage made and the following ones only said again."""
    stage = stages[0]
    own_zone = _value(stage, "time_zone")
    in_zone = zone(str(own_zone)) if own_zone in zone_names() else default_zone
    due_on, recurrence = _calendar(stage, in_zone)
    return Plan(
        since=in_calendar(max(told.stamp.time for told in stage.values())),
        known_at=min(max(told.at for told in same.values()) for same in stages),
        number=number,
        zone=in_zone,
        at=_time(stage) or time.min,
        due_on=due_on,
        recurrence=recurrence,
    )


def _calendar(stage: Mapping[str, Told], in_zone: ZoneInfo) -> tuple[date | None, Recurrence | None]:
    """Return the due date or the recurrence, whichever was told last; neither where it is not known or over."""
    clock = _time(stage)
    if clock is None or _value(stage, "status") in ("cancelled", "completed"):
        return None, None
    due_on, text, starts_on = (_value(stage, name) for name in ("due_on", "recurrence", "starts_on"))
    recurs = isinstance(text, str) and isinstance(starts_on, date)
    if isinstance(due_on, date) and not (recurs and stage["recurrence"].stamp > stage["due_on"].stamp):
        return due_on, None
    if not isinstance(text, str) or not isinstance(starts_on, date):
        return None, None
    try:
        return None, Recurrence.parse(text, starts_on, clock, in_zone)
    except ValueError:  # a change of the rule alone cannot be checked before it meets the rest
        return None, None


def _time(stage: Mapping[str, Told]) -> time | None:
    value = _value(stage, "at")
    return parse_clock_time(value) if isinstance(value, str) else None


def _value(stage: Mapping[str, Told], name: str) -> object | None:
    return stage[name].value if name in stage else None


def in_calendar(instant: datetime) -> datetime:
    """Return the instant, or the nearest one at which something can be due."""
    return min(max(instant, EARLIEST), LATEST)


def _is_in_range(day: date) -> bool:
    return EARLIEST.date() < day < LATEST.date()
