"""Offsets: how long before or after a moment something happens, such as `24 hours` or `3 days at 09:00`.

Minutes and hours are elapsed time. Days, weeks, months and years are steps of the calendar in a zone, at the
moment's wall time or at the clock time that is given. The moment is an instant or a local date: a date
stands for its first instant in `before` and for its end in `after`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema

from domain.civil_time import as_instant, end_of_date, instant_of, start_of_date, wall_of
from domain.durations import LONGEST_QUANTITY, Kind, Quantity, Unit, parse_quantity
from domain.text_values import shown, text_schema
from domain.time_texts import format_clock_time, parse_clock_time

_AT = re.compile(r" +at +", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Offset:
    """An amount of elapsed time, or a number of calendar steps with the clock time they lead to.

    `amount` counts seconds, days or months, as `kind` says; `unit` only says how that is written. So `1 week`
    and `7 days` are equal, `24 hours` and `1 day` are not.
    """

    kind: Kind
    amount: int
    at: time | None
    unit: Unit = field(compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> Offset:
        """Return the offset that a text such as `3 days at 09:00` says."""
        amount, *clocks = _AT.split(text.strip(" "), maxsplit=1) if len(text) <= LONGEST_QUANTITY else [text]
        quantity = parse_quantity(amount)
        if clocks and quantity.kind is Kind.SECONDS:
            raise ValueError(f"{shown(text)}: a clock time goes with days, weeks, months or years")
        at = parse_clock_time(clocks[0]) if clocks else None
        return cls(quantity.kind, quantity.amount, at, quantity.unit)

    @classmethod
    def read(cls, value: object) -> Offset:
        """Return an offset from its text; a bare number is refused."""
        if isinstance(value, Offset):
            return value
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} is not an amount of time: write it like 2 hours or 1 day at 09:00")
        return cls.parse(value)

    @property
    def is_elapsed(self) -> bool:
        """Say whether this is elapsed time, and not steps of the calendar."""
        return self.kind is Kind.SECONDS

    def before(self, moment: date, zone: ZoneInfo) -> datetime:
        """Return the instant that lies this far before an instant, or before the first instant of a date.

        A clock time never leads past an instant that it is to be before; before a date, it is that time on
        the date less the steps: `0 days at 08:00` is the date itself at 08:00.
        """
        if not isinstance(moment, datetime):
            return self._before_date(moment, zone)
        reached = self._moved(moment, zone, -1)
        return min(reached, as_instant(moment))

    def after(self, moment: date, zone: ZoneInfo) -> datetime:
        """Return the instant that lies this far after an instant, or after the end of a date.

        Steps after a date lead to the end of the date that they reach, or to the clock time on it, though
        never before the end of the date itself nor before an instant that it is to be after.
        """
        if not isinstance(moment, datetime):
            return self._after_date(moment, zone)
        reached = self._moved(moment, zone, 1)
        return max(reached, as_instant(moment))

    def day_before(self, day: date) -> date:
        """Return the date that lies these calendar steps before a date."""
        return self._stepped(day, -1)

    def day_after(self, day: date) -> date:
        """Return the date that lies these calendar steps after a date."""
        return self._stepped(day, 1)

    def __str__(self) -> str:
        amount = str(Quantity(self.kind, self.amount, self.unit))
        return amount if self.at is None else f"{amount} at {format_clock_time(self.at)}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return text_schema(cls.read)

    def _moved(self, instant: datetime, zone: ZoneInfo, direction: int) -> datetime:
        if self.is_elapsed:
            return _elapsed(as_instant(instant), direction * self.amount)
        if not self.amount and self.at is None:
            # Not over the wall clock: in the second of two equal hours that would lead to the first.
            return as_instant(instant)
        wall = wall_of(instant, zone)
        clock = wall.time() if self.at is None else self.at
        return instant_of(datetime.combine(self._stepped(wall.date(), direction), clock), zone)

    def _before_date(self, day: date, zone: ZoneInfo) -> datetime:
        if self.is_elapsed:
            return _elapsed(start_of_date(day, zone), -self.amount)
        reached = self.day_before(day)
        return start_of_date(reached, zone) if self.at is None else _at(reached, self.at, zone)

    def _after_date(self, day: date, zone: ZoneInfo) -> datetime:
        if self.is_elapsed:
            return _elapsed(end_of_date(day, zone), self.amount)
        reached = self.day_after(day)
        if self.at is None:
            return end_of_date(reached, zone)
        return max(_at(reached, self.at, zone), end_of_date(day, zone))

    def _stepped(self, day: date, direction: int) -> date:
        if self.is_elapsed:
            raise ValueError(f"{self} is elapsed time: between dates, write days, weeks, months or years")
        try:
            if self.kind is Kind.DAYS:
                return day + timedelta(days=direction * self.amount)
            return _months_on(day, direction * self.amount)
        except (OverflowError, ValueError):
            raise _outside(self, day) from None


def _months_on(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _at(day: date, clock: time, zone: ZoneInfo) -> datetime:
    return instant_of(datetime.combine(day, clock), zone)


def _elapsed(instant: datetime, seconds: int) -> datetime:
    try:
        return instant + timedelta(seconds=seconds)
    except OverflowError:
        raise _outside(f"{seconds} seconds", instant) from None


def _outside(offset: object, moment: date) -> ValueError:
    return ValueError(f"{offset} from {moment.isoformat()} leads out of the calendar")
