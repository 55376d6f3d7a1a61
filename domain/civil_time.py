"""Instants, zones, a space's local dates, and the daylight-saving rule.

The rule (RFC 5545): a wall time that does not exist moves on by the gap, so that 02:30 becomes 03:30; one
that exists twice means the first. Amounts of time stand in `durations`, `offsets` and `recurrences`.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from importlib import resources
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator

from domain.text_values import did_you_mean, shown

_NO_PLACES = frozenset({"Factory", "localtime", "posixrules"})
_MORE_THAN_ANY_GAP = timedelta(hours=24, seconds=1)
_SECOND = timedelta(seconds=1)


def as_instant(value: datetime) -> datetime:
    """Return the instant in UTC; a time without an offset is refused."""
    if value.tzinfo is UTC:
        return value
    if value.utcoffset() is None:
        raise ValueError(f"{value.isoformat()} has no offset: write it like 2026-05-12T10:00:00+02:00")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise _outside(value) from None


Instant = Annotated[datetime, AfterValidator(as_instant)]
"""An aware datetime in UTC."""


@lru_cache(maxsize=1024)
def zone(name: str) -> ZoneInfo:
    """Return the zone of an IANA name, such as Europe/Berlin; others are refused with the nearest name.

    Paths, and names that mean "wherever this machine stands", are no zones.
    """
    if name not in zone_names():
        raise ValueError(f"{shown(name)} is not an IANA time zone, such as Europe/Berlin{_meant(name)}")
    return ZoneInfo(name)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return every name that `zone` takes: the same ones on every machine, those of the tzdata package."""
    listed = resources.files("tzdata").joinpath("zones").read_text("utf-8").split()
    return frozenset(listed) - _NO_PLACES


def zone_name(name: str) -> str:
    """Return the name, having made sure that it is a zone's."""
    return zone(name).key


Zone = Annotated[str, AfterValidator(zone_name)]
"""The IANA name of a time zone: Europe/Berlin."""


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant at which the clocks of a zone show a wall time, by the daylight-saving rule."""
    if wall.tzinfo is not None:
        raise ValueError(f"{wall.isoformat()} has an offset, so it is not a wall time")
    # Before a transition's offset is what `fold=0` uses, in a gap as well as in a doubled hour: which is
    # both halves of the rule.
    return as_instant(wall.replace(tzinfo=zone, fold=0))


def wall_of(instant: datetime, zone: ZoneInfo) -> datetime:
    """Return the wall time, without a zone, that the clocks of a zone show at an instant."""
    try:
        local = _aware(instant).astimezone(zone)
    except OverflowError:
        raise _outside(instant) from None
    return datetime.combine(local.date(), local.time().replace(fold=0) if local.fold else local.time())


def local_date(instant: datetime, zone: ZoneInfo) -> date:
    """Return the date that the calendars of a zone show at an instant."""
    return wall_of(instant, zone).date()


@lru_cache(maxsize=4096)
def start_of_date(day: date, zone: ZoneInfo) -> datetime:
    """Return the first instant of a date in a zone.

    That is not always midnight: where midnight is skipped, the date begins with the transition, and a date
    that a zone skipped altogether is empty, beginning with the next one.
    """
    midnight = datetime.combine(day, time.min)
    instant = instant_of(midnight, zone)
    return instant if wall_of(instant, zone) == midnight else _transition_into(day, instant, zone)


def end_of_date(day: date, zone: ZoneInfo) -> datetime:
    """Return the instant at which a date ends in a zone: the first one of the next date."""
    try:
        return start_of_date(day + timedelta(days=1), zone)
    except OverflowError:
        raise _outside(day) from None


def _transition_into(day: date, within: datetime, zone: ZoneInfo) -> datetime:
    before, after = within - _MORE_THAN_ANY_GAP, within
    while after - before > _SECOND:
        middle = before + (after - before) // _SECOND // 2 * _SECOND
        if local_date(middle, zone) < day:
            before = middle
        else:
            after = middle
    return after


def _aware(instant: datetime) -> datetime:
    if instant.tzinfo is None:
        raise ValueError(f"{instant.isoformat()} has no offset, so it is not an instant")
    return instant


def _outside(value: date) -> ValueError:
    return ValueError(f"{value.isoformat()} lies at the edge of the calendar, which holds the years 1 to 9999")


def _meant(name: str) -> str:
    city = name.strip().replace(" ", "_").casefold()
    for known in sorted(zone_names()):
        if known.rpartition("/")[2].casefold() == city:
            return f"; did you mean {known}?"
    return did_you_mean(name, zone_names())
