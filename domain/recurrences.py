"""Recurrences: what comes round by a rule, from a date on, at one clock time on the wall clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import islice, takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo

from domain.civil_time import instant_of, wall_of
from domain.recurrence_dates import completed, dates_of
from domain.recurrence_rules import RecurrenceRule
from domain.text_values import shown

_LONGER_THAN_ANY_GAP = timedelta(days=2)


class Occurrence(NamedTuple):
    """One time that something comes round: the wall time that the rule names, and its instant in a zone.

    The date of an occurrence is that of its wall time, also where the daylight-saving rule moves the instant.
    """

    wall: datetime
    instant: datetime


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A rule that applies from a date on, at a clock time.

    The first occurrence is the first date that fits the rule, from `starts_on`; what the rule leaves open
    (which weekday, which day of the month) `starts_on` decides. After the wall time `last`, which comes from
    UNTIL or COUNT, nothing occurs.
    """

    rule: RecurrenceRule
    starts_on: date
    at: time
    last: datetime | None = None

    @classmethod
    def parse(cls, text: str, starts_on: date, at: time = time.min, zone: ZoneInfo | None = None) -> Recurrence:
        """Return the recurrence of an RRULE; one that never occurs is refused.

        `zone` is asked for only where UNTIL is given in UTC.
        """
        return _parsed(text, starts_on, at, zone)

    def occurrences(self) -> Iterator[datetime]:
        """Yield the wall time of every occurrence, in order; there may be no end."""
        return self._walls_near(self.starts_on)

    def occurrences_after(self, moment: date) -> Iterator[datetime]:
        """Yield the wall times of occurrences later than a wall time, or than a whole date."""
        after = _end(moment)
        return (wall for wall in self._walls_near(after.date()) if wall > after)

    def next_after(self, moment: date) -> datetime | None:
        """Return the wall time of the first occurrence after a wall time or date, or None."""
        return next(self.occurrences_after(moment), None)

    def between(self, after: date, until: date) -> Iterator[datetime]:
        """Yield the wall times of occurrences later than `after` and not later than `until`."""
        end = _end(until)
        return takewhile(lambda wall: wall <= end, self.occurrences_after(after))

    def instants_after(self, instant: datetime, zone: ZoneInfo) -> Iterator[Occurrence]:
        """Yield the occurrences whose instants in a zone are later than an instant."""
        # A wall time in a gap may be earlier than what the clock shows at `instant`, and still come after it.
        for wall in self.occurrences_after(wall_of(instant, zone) - _LONGER_THAN_ANY_GAP):
            occurrence = Occurrence(wall, instant_of(wall, zone))
            if occurrence.instant > instant:
                yield occurrence

    def __str__(self) -> str:
        return str(self.rule)

    def _walls_near(self, day: date) -> Iterator[datetime]:
        for found in dates_of(self.rule, self.starts_on, max(day, self.starts_on)):
            wall = datetime.combine(found, self.at)
            if self.last is not None and wall > self.last:
                return
            yield wall


def _end(moment: date) -> datetime:
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time.max)
    if moment.tzinfo is not None:
        raise ValueError(f"{moment.isoformat()} has an offset, so it is not a wall time")
    return moment


@lru_cache(maxsize=4096)
def _parsed(text: str, starts_on: date, at: time, zone: ZoneInfo | None) -> Recurrence:
    endless = Recurrence(completed(RecurrenceRule.parse(text), starts_on), starts_on, at)
    first = next(endless.occurrences(), None)
    if first is None:
        raise ValueError(f"{shown(text)} never occurs from {starts_on.isoformat()} on")
    last = _last_of(endless, zone)
    if last is not None and last < first:
        raise ValueError(f"{shown(text)} ends before its first occurrence, {first.date().isoformat()}")
    return replace(endless, last=last)


def _last_of(endless: Recurrence, zone: ZoneInfo | None) -> datetime | None:
    rule = endless.rule
    if rule.count is not None:
        return next(islice(endless.occurrences(), rule.count - 1, None), None)
    if rule.until is None or not rule.until_is_utc:
        return rule.until
    if zone is None:
        raise ValueError(f"{shown(rule.text)} ends in UTC: write UNTIL without the Z, or say in which zone")
    return wall_of(rule.until.replace(tzinfo=UTC), zone)
