"""When a reminder is due: its occurrences, after everything that was said about them.

Each date has one occurrence at most. A change of the calendar holds from its own time on: it moves what is
still to come, and on its own day also what has been due, if the new time lies ahead. A snooze moves one
occurrence and a completion ends one. Both mean the occurrence of the day on which they happen, if there is
one; else a snooze means the next one if that would ring before it is over; else the latest that was due; else
the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from heapq import merge
from itertools import chain
from operator import attrgetter
from zoneinfo import ZoneInfo

from domain.civil_time import instant_of, local_date, start_of_date, wall_of
from domain.facts import Entity, Part
from domain.reminder_plans import EARLIEST, LATEST, Due, Numbers, Plan, in_calendar, plans_of
from domain.time_texts import format_wall

_INSTANT = timedelta(microseconds=1)
_DAYS = timedelta(days=3)
"""More than a date's own day and any move by the daylight-saving rule."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time that a reminder is due.

    `date` is that of the calendar, also where a snooze put it off to another day, which `wall` tells: the
    wall time as it was named. `occasion` is the date, with the number of the change after a # where the time
    is not the first one. `known_at` is when it was recorded that it is due then.
    """

    date: date
    occasion: str
    instant: datetime
    wall: datetime
    known_at: datetime


def occurrences(reminder: Entity, zone: ZoneInfo, after: datetime, up_to: datetime = LATEST) -> Iterator[Occurrence]:
    """Yield the occurrences due after an instant, up to and including another, in order.

    `zone` is that of the reminder's space. What that costs does not depend on how long ago the reminder began.
    """
    return _Agenda.of(reminder, zone).occurrences(after, up_to)


def next_occurrence(reminder: Entity, zone: ZoneInfo, after: datetime) -> Occurrence | None:
    """Return the first occurrence due after an instant, or None."""
    return next(occurrences(reminder, zone, after), None)


def occurrence_on(reminder: Entity, zone: ZoneInfo, day: date) -> Occurrence | None:
    """Return the occurrence of a date, whenever it is due by now; None if there is none, or it is done."""
    return _Agenda.of(reminder, zone).on(day)


def why_not_due(
    reminder: Entity, zone: ZoneInfo, day: date, *, occasion: str = "", due: datetime | None = None
) -> str | None:
    """Return why nobody is to be reminded any more of what fell due, or None if that still stands.

    `day` is the date of the occurrence, and either the occasion or the instant has to be the present one.
    """
    status = reminder.get("status")
    if status in ("cancelled", "completed"):
        return f"reminder {status}"
    return _Agenda.of(reminder, zone).why_not_due(day, occasion, due)


@dataclass(frozen=True, slots=True)
class _Move:
    """A snooze, and how many plans there were when it moved its occurrence."""

    date: date
    until: datetime
    wall: datetime
    since: datetime
    number: int
    known_at: datetime
    plans: int


@dataclass(frozen=True, slots=True)
class _Calendar:
    """The plans of a reminder, one taking over from the other; completions and snoozes are left aside."""

    plans: tuple[Plan, ...]

    def until(self, at: datetime) -> _Calendar:
        """Return the calendar as it was told up to an instant."""
        return _Calendar(tuple(plan for plan in self.plans if plan.since <= at))

    def numbers_at(self, day: date, instant: datetime) -> Iterator[int]:
        """Yield the number of each plan that has a date's occurrence at an instant."""
        for plan in self.plans:
            due = plan.on(day)
            if due is not None and due.instant == instant:
                yield plan.number

    def between(self, after: datetime, up_to: datetime) -> Iterator[tuple[int, Due]]:
        """Yield what falls due after an instant and up to another, each with the index of its plan."""
        streams = (self._kept(index, after, up_to) for index in range(len(self.plans)))
        return merge(*streams, key=lambda found: found[1].instant)

    def _kept(self, index: int, after: datetime, up_to: datetime) -> Iterator[tuple[int, Due]]:
        plan, end = self.plans[index], self._end(index)
        begin = after if plan.is_once else max(after, start_of_date(plan.told_on, plan.zone) - _INSTANT)
        for due in plan.between(begin, min(up_to, end)):
            if self._holds(index, due) and not self.is_retaken(index, due.date):
                yield index, due

    def _end(self, index: int) -> datetime:
        return self.plans[index + 1].since if index + 1 < len(self.plans) else LATEST

    def _holds(self, index: int, due: Due) -> bool:
        """Say whether a plan makes something due that it says: not what had passed before it was told."""
        plan = self.plans[index]
        if due.instant > plan.since:
            return True
        if not plan.is_once and due.date != plan.told_on:
            return False
        return not any(self._was_due(earlier, due.date, plan) for earlier in range(index))

    def _was_due(self, index: int, day: date, later: Plan) -> bool:
        plan, end = self.plans[index], self._end(index)
        only = plan.due_on if later.is_once and plan.is_once else day
        due = plan.on(only) if only is not None else None
        return due is not None and due.instant <= end

    def is_retaken(self, index: int, day: date) -> bool:
        """Say whether a later plan has the occurrence that this one has on a date."""
        plan = self.plans[index]
        return any(self._retakes(later, day, plan) for later in self.plans[index + 1 :])

    @staticmethod
    def _retakes(later: Plan, day: date, plan: Plan) -> bool:
        if later.is_once and plan.is_once:
            return True
        due = later.on(day)
        return due is not None and due.instant > later.since

    def is_over_before(self, plans: int, instant: datetime) -> bool:
        """Say whether the reminder was over at some time after its first so many plans and before an instant."""
        return any(plan.is_over and plan.since < instant for plan in self.plans[plans:])

    def meant(self, at: datetime, until: datetime | None = None) -> date | None:
        """Return the date of the occurrence that a snooze or a completion means, by when it happened."""
        if not self.plans or self.plans[-1].is_over:
            return None
        plan = self.plans[-1]
        if plan.due_on is not None:
            return plan.due_on
        today = local_date(at, plan.zone)
        if self._has(today):
            return today
        following = next((due for _, due in self.between(at, LATEST)), None)
        if following is not None and until is not None and following.instant <= until:
            return following.date
        latest = self._latest(at) or following
        return latest.date if latest is not None else None

    def _has(self, day: date) -> bool:
        begin = start_of_date(day, self.plans[-1].zone)
        return any(due.date == day for _, due in self.between(begin - _INSTANT, begin + _DAYS))

    def _latest(self, at: datetime) -> Due | None:
        """Return what was due last, looking back in steps that grow."""
        first, end, span = self.plans[0].since - _DAYS, at, timedelta(days=2)
        while end > first:
            found = [due for _, due in self.between(end - span, end)]
            if found:
                return found[-1]
            end, span = end - span, span * 4
        return None


@dataclass(frozen=True, slots=True)
class _Agenda:
    """A calendar with what was completed, the latest time of it by date, and with the moves by date, in order."""

    calendar: _Calendar
    completed: Mapping[date, datetime]
    moves: Mapping[date, list[_Move]]

    @classmethod
    def of(cls, reminder: Entity, zone: ZoneInfo) -> _Agenda:
        calendar = _Calendar(plans_of(reminder, zone))
        parts = sorted(reminder.parts.values(), key=attrgetter("stamp"))
        completions = [part for part in parts if part.values["type"] == "reminder.completed"]
        snoozes = [part for part in parts if part.values["type"] == "reminder.snoozed"]
        numbers = Numbers.of(reminder)
        moves: dict[date, list[_Move]] = {}
        for part in snoozes:
            if move := _move(calendar, part, numbers[part.version]):
                moves.setdefault(move.date, []).append(move)
        return cls(calendar, _completed(calendar, completions), moves)

    def occurrences(self, after: datetime, up_to: datetime) -> Iterator[Occurrence]:
        """Yield what is due after an instant, up to and including another."""
        moved = [found for found in self._moved() if after < found.instant <= up_to]
        moved.sort(key=attrgetter("instant"))
        return merge(self._unmoved(after, up_to), moved, key=attrgetter("instant"))

    def on(self, day: date) -> Occurrence | None:
        """Return the occurrence of a date."""
        near = start_of_date(day, self.calendar.plans[-1].zone) if self.calendar.plans else EARLIEST
        found = chain(self._moved(), self._unmoved(near - _DAYS, near + _DAYS))
        return next((occurrence for occurrence in found if occurrence.date == day), None)

    def why_not_due(self, day: date, occasion: str, due: datetime | None) -> str | None:
        """Return why an occasion of a date does not stand any more, or None if it does."""
        standing = self.on(day)
        if standing is not None and (standing.occasion == occasion or standing.instant == due):
            return None
        move = self._move(day)
        if day in self.completed and (move is None or move.since <= self.completed[day]):
            return "reminder completed"
        if standing is not None and move is not None and standing.instant == move.until:
            return f"reminder snoozed until {format_wall(move.wall)}"
        return "reminder changed"

    def _unmoved(self, after: datetime, up_to: datetime) -> Iterator[Occurrence]:
        for index, due in self.calendar.between(after, up_to):
            plan, move = self.calendar.plans[index], self._move(due.date)
            if due.date not in self.completed and (move is None or index >= move.plans):
                occasion = self._occasion(due.date, due.instant, plan.number)
                yield Occurrence(due.date, occasion, due.instant, due.wall, plan.known_at)

    def _moved(self) -> Iterator[Occurrence]:
        for day, moves in self.moves.items():
            move = moves[-1]
            if self._stands(move):
                occasion = self._occasion(day, move.until, move.number)
                yield Occurrence(day, occasion, move.until, move.wall, move.known_at)

    def _move(self, day: date) -> _Move | None:
        return self.moves[day][-1] if day in self.moves else None

    def _occasion(self, day: date, instant: datetime, number: int) -> str:
        """Return how an occurrence is named: as it was when it was first due at that instant, if ever."""
        if len(self.calendar.plans) > 1 or day in self.moves:
            moves = (move.number for move in self.moves.get(day, ()) if move.until == instant)
            number = min(number, *moves, *self.calendar.numbers_at(day, instant), number)
        return occasion_of(day, number)

    def _stands(self, move: _Move) -> bool:
        completed = self.completed.get(move.date)
        return (
            (completed is None or completed < move.since)
            and not self.calendar.is_retaken(move.plans - 1, move.date)
            and not self.calendar.is_over_before(move.plans, move.until)
        )


def occasion_of(day: date, number: int) -> str:
    """Return how an occurrence of a date is named: `2026-08-15`, or `2026-08-15#2` after its time was changed."""
    return day.isoformat() if number == 1 else f"{day.isoformat()}#{number}"


def _completed(calendar: _Calendar, completions: Iterable[Part]) -> dict[date, datetime]:
    completed: dict[date, datetime] = {}
    for part in completions:
        at = in_calendar(part.stamp.time)
        day = part.values.get("due_on") or calendar.until(at).meant(at)
        if day is not None:
            completed[day] = at
    return completed


def _move(calendar: _Calendar, snooze: Part, number: int) -> _Move | None:
    since = in_calendar(snooze.stamp.time)
    so_far = calendar.until(since)
    if not so_far.plans:
        return None
    plan = so_far.plans[-1]
    until = _until(snooze.values["until"], plan)
    day = so_far.meant(since, until)
    if day is None:
        return None
    wall = wall_of(until, plan.zone)
    return _Move(day, until, wall, since, number, max(plan.known_at, snooze.at), len(so_far.plans))


def _until(value: date, plan: Plan) -> datetime:
    if isinstance(value, datetime):
        return in_calendar(value)
    day = min(max(value, EARLIEST.date() + timedelta(days=1)), LATEST.date() - timedelta(days=2))
    return in_calendar(instant_of(datetime.combine(day, plan.at), plan.zone))
