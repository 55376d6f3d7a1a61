"""Units of time, quantities such as `2 weeks`, and plain durations such as `90 minutes`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import NamedTuple

from domain.text_values import did_you_mean, shown


class Kind(Enum):
    """What an amount of time is counted in; kinds do not convert into each other."""

    SECONDS = "elapsed time"
    DAYS = "calendar days"
    MONTHS = "calendar months"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit that people write, and how many seconds, days or months it has."""

    name: str
    kind: Kind
    size: int


UNITS = (
    Unit("second", Kind.SECONDS, 1),
    Unit("minute", Kind.SECONDS, 60),
    Unit("hour", Kind.SECONDS, 3600),
    Unit("day", Kind.DAYS, 1),
    Unit("week", Kind.DAYS, 7),
    Unit("month", Kind.MONTHS, 1),
    Unit("year", Kind.MONTHS, 12),
)

LARGEST = {Kind.SECONDS: 36_525 * 86_400, Kind.DAYS: 36_525, Kind.MONTHS: 1_200}
"""A hundred years of each kind: more is a slip of the keyboard."""

LONGEST_QUANTITY = 100
"""Characters."""

_BY_WORD = {word: unit for unit in UNITS for word in (unit.name, f"{unit.name}s")}
_PART = re.compile(r"([0-9]{1,12}) *([A-Za-z]+)")
_FRACTION = re.compile(r"([0-9]{1,12})\.([0-9]{1,6}) *seconds?", re.IGNORECASE)
_DAY = timedelta(days=1)


class Quantity(NamedTuple):
    """An amount in seconds, days or months, and the unit that it was written in."""

    kind: Kind
    amount: int
    unit: Unit

    def __str__(self) -> str:
        count = self.amount // self.unit.size
        return f"{count} {self.unit.name}" if count == 1 else f"{count} {self.unit.name}s"


def parse_quantity(text: str) -> Quantity:
    """Return the quantity of `2 weeks`; parts of one kind add up, as in `1 hour 30 minutes`.

    The unit of the sum is the smallest one written. Signs, fractions and mixed kinds are refused.
    """
    parts = [_part(match) for match in _PART.finditer(text)] if len(text) <= LONGEST_QUANTITY else []
    if not parts or _PART.sub("", text).strip(" "):
        raise ValueError(f"{shown(text)} is not an amount of time: write it like 15 minutes, 2 hours or 3 days")
    if len({part.kind for part in parts}) > 1:
        raise ValueError(f"{shown(text)} mixes elapsed time, days and months: write one of them")
    total = sum(part.amount for part in parts)
    unit = min((part.unit for part in parts), key=lambda unit: unit.size)
    if total > LARGEST[unit.kind]:
        raise ValueError(f"{shown(text)} is more than a hundred years")
    return Quantity(unit.kind, total, unit)


def parse_duration(text: str) -> timedelta:
    """Return the elapsed time of `90 minutes`, `36 hours` or `14 days`; a day is 24 hours here."""
    fraction = _FRACTION.fullmatch(text.strip(" "))
    if fraction:
        return timedelta(seconds=int(fraction[1]), microseconds=int(fraction[2].ljust(6, "0")))
    quantity = parse_quantity(text)
    if quantity.kind is Kind.MONTHS:
        raise ValueError(f"{shown(text)} has no fixed length: write days instead")
    return quantity.amount * (_DAY if quantity.kind is Kind.DAYS else timedelta(seconds=1))


def format_duration(duration: timedelta) -> str:
    """Return elapsed time as text, in the largest of days, hours, minutes and seconds that is exact.

    `parse_duration` reads it back, except for a negative one, which only people read.
    """
    if duration < timedelta(0):
        return f"-{format_duration(-duration)}"
    if duration.microseconds:
        whole = duration // timedelta(seconds=1)
        return f"{whole}.{duration.microseconds:06d}".rstrip("0") + " seconds"
    seconds = duration // timedelta(seconds=1)
    units = {unit.name: unit for unit in UNITS}
    if seconds and seconds % 86_400 == 0:
        return str(Quantity(Kind.DAYS, seconds // 86_400, units["day"]))
    unit = next(units[name] for name in ("hour", "minute", "second") if seconds % units[name].size == 0)
    return str(Quantity(Kind.SECONDS, seconds, unit if seconds else units["minute"]))


def _part(match: re.Match[str]) -> Quantity:
    unit = _BY_WORD.get(match[2].lower())
    if unit is None:
        meant = did_you_mean(match[2], _BY_WORD)
        raise ValueError(
            f"{shown(match[2])} is not a unit of time: write minutes, hours, days, weeks, months or years{meant}"
        )
    return Quantity(unit.kind, int(match[1]) * unit.size, unit)
