"""What a text says, where it may say nothing of the kind: each reader returns None instead of refusing.

The numbers, amounts, dates and times that people write are read by the domain's own parsers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeVar

from domain.durations import parse_duration
from domain.money import Money
from domain.time_texts import parse_clock_time, parse_date, parse_wall

T = TypeVar("T")

_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.]{5,15}(?:[Zz]|[+-][0-9]{2}:[0-9]{2})")
_YES, _NO = frozenset({"yes", "true"}), frozenset({"no", "false"})

Timely = date | datetime | time
"""A date, an instant or local time, or a clock time."""


def number_in(text: str) -> Decimal | None:
    """Return the number that a text is, or None."""
    text = text.strip()
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def money_in(text: str) -> Money | None:
    """Return the amount that a text is, or None."""
    return _or_none(Money.parse, text) if text[-1:].isalpha() else None


def date_in(text: str) -> date | None:
    """Return the date that a text is, or None."""
    return _or_none(parse_date, text)


def clock_in(text: str) -> time | None:
    """Return the clock time that a text is, or None."""
    return _or_none(parse_clock_time, text)


def wall_in(text: str) -> datetime | None:
    """Return the local date and time that a text is, or None."""
    return _or_none(parse_wall, text)


def instant_in(text: str) -> datetime | None:
    """Return the instant that a text with an offset is, or None; its offset is kept."""
    return _or_none(datetime.fromisoformat, text.upper()) if _INSTANT.fullmatch(text) else None


def duration_in(text: str) -> timedelta | None:
    """Return the elapsed time that a text is, or None."""
    return _or_none(parse_duration, text)


def timely_in(text: str) -> Timely | None:
    """Return the date, clock time, local time or instant that a text is, or None."""
    if not text[:1].isdigit():
        return None
    for read in (date_in, clock_in, wall_in, instant_in):
        found: Timely | None = read(text)
        if found is not None:
            return found
    return None


def yes_no_in(value: object) -> bool | None:
    """Return the yes or no that a value is, or None."""
    if isinstance(value, bool):
        return value
    word = value.strip().casefold() if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


def _or_none(read: Callable[[str], T], text: object) -> T | None:
    try:
        return read(text) if isinstance(text, str) else None
    except ValueError:
        return None
