"""How clock times, dates and local times are written: `09:00`, `2026-05-12`, `2026-05-12 10:00`.

One spelling each, with seconds where they are wanted; an offset or a zone never stands in them.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time

from domain.text_values import shown

_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_clock_time(text: str) -> time:
    """Return the time of day of `09:00`, `9:00`, or `09:00:30`, from 00:00 to 23:59:59."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        raise ValueError(f"{shown(text)} is not a clock time: write it like 09:00 or 17:30")
    hours, minutes, seconds, fraction = match.groups()
    try:
        return time(int(hours), int(minutes), int(seconds or 0), int((fraction or "0").ljust(6, "0")))
    except ValueError:
        raise ValueError(f"{shown(text)} is not on the clock, which runs from 00:00 to 23:59") from None


def format_clock_time(clock: time) -> str:
    """Return a time of day as text, with seconds only where there are any: `09:00`."""
    if clock.tzinfo is not None:
        raise ValueError(f"{clock.isoformat()} has an offset, so it is not a clock time")
    return clock.isoformat() if clock.second or clock.microsecond else clock.isoformat("minutes")


def parse_date(text: str) -> date:
    """Return the date of `2026-05-12`."""
    if not _DATE.fullmatch(text):
        raise ValueError(f"{shown(text)} is not a date: write it like 2026-05-12")
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{shown(text)} is not in the calendar") from None


def parse_wall(text: str) -> datetime:
    """Return the wall time, without a zone, of `2026-05-12 10:00`; a T in the middle is read too."""
    day, separator, clock = text.replace("T", " ", 1).partition(" ")
    if not separator or not _DATE.fullmatch(day) or not _CLOCK.fullmatch(clock):
        raise ValueError(f"{shown(text)} is not a local time: write it like 2026-05-12 10:00, without an offset")
    return datetime.combine(parse_date(day), parse_clock_time(clock))


def format_wall(wall: datetime) -> str:
    """Return a wall time as text: `2026-05-12 10:00`."""
    return f"{wall.date().isoformat()} {format_clock_time(wall.timetz())}"
