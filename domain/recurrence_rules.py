"""Recurrence rules as text: the RRULE of RFC 5545 with the SKIP of RFC 7529, read and checked.

Not taken are what is finer than a day, since the time of day stands beside the rule; calendars other than
the Gregorian; and combinations that only limit each other to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, time
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator

from domain.text_values import did_you_mean, shown
from domain.time_texts import parse_clock_time, parse_date

LONGEST_RULE = 400
"""Characters; the longest rule that calendars are seen to write has about a hundred."""

LARGEST_INTERVAL = 1_000
LARGEST_COUNT = 10_000


class Frequency(StrEnum):
    """The period that a rule repeats by."""

    DAILY = "DAILY"
    WEEKLY = "WEEKLY"
    MONTHLY = "MONTHLY"
    YEARLY = "YEARLY"


class Skip(StrEnum):
    """What becomes of a day that a month lacks: nothing, the day before, or the day after."""

    OMIT = "OMIT"
    BACKWARD = "BACKWARD"
    FORWARD = "FORWARD"


class RuleWeekday(NamedTuple):
    """A weekday, 0 is Monday, and which one of its month or year: -1 is the last, 0 is every one."""

    weekday: int
    number: int


@dataclass(frozen=True, slots=True)
class RecurrenceRule:
    """The parts of an RRULE; an empty tuple is a part that was not written.

    `until` is a wall time, or in UTC where `until_is_utc`, and includes itself.
    """

    text: str
    frequency: Frequency
    interval: int = 1
    count: int | None = None
    until: datetime | None = None
    until_is_utc: bool = False
    months: tuple[int, ...] = ()
    week_numbers: tuple[int, ...] = ()
    year_days: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    weekdays: tuple[RuleWeekday, ...] = ()
    positions: tuple[int, ...] = ()
    week_start: int = 0
    skip: Skip = Skip.BACKWARD

    @classmethod
    def parse(cls, text: str) -> RecurrenceRule:
        """Return the rule that a text such as `FREQ=MONTHLY;BYMONTHDAY=31` says."""
        parts = _parts(text)
        fields: dict[str, Any] = {}
        for name, value in parts.items():
            fields |= _READERS[name](name, value)
        if "frequency" not in fields:
            raise ValueError(f"{shown(text)} has no FREQ: write it like FREQ=WEEKLY;BYDAY=MO")
        rule = cls(text=";".join(f"{name}={value}" for name, value in parts.items()), **fields)
        _refuse_contradictions(rule)
        return rule

    def __str__(self) -> str:
        return self.text


def rule_text(text: str) -> str:
    """Return the text of a rule in capitals, having made sure that it is one."""
    return RecurrenceRule.parse(text).text


RecurrenceText = Annotated[str, AfterValidator(rule_text)]
"""The text of a recurrence rule: FREQ=WEEKLY;BYDAY=MO."""

_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_FINER_THAN_A_DAY = ("SECONDLY", "MINUTELY", "HOURLY")
_TIMES_OF_DAY = ("BYHOUR", "BYMINUTE", "BYSECOND")
_NUMBER = re.compile(r"[+-]?[0-9]{1,5}")
_WEEKDAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_UNTIL = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})([0-9]{2})(Z?))?")


def _parts(text: str) -> dict[str, str]:
    if len(text) > LONGEST_RULE:
        raise ValueError(f"a recurrence rule has at most {LONGEST_RULE} characters, this one has {len(text)}")
    parts: dict[str, str] = {}
    for part in text.strip(" ").upper().removeprefix("RRULE:").removesuffix(";").split(";"):
        name, equals, value = part.partition("=")
        if not equals or not value:
            raise ValueError(f"{shown(part)} is not a part of a recurrence rule, such as FREQ=WEEKLY")
        if name in parts:
            raise ValueError(f"{name} stands twice in {shown(text)}")
        if name in _TIMES_OF_DAY:
            raise ValueError(f"{name} is not taken: an occurrence is a date, and its clock time stands in `at`")
        if name not in _READERS:
            raise ValueError(f"{shown(name)} is not a part of a recurrence rule{did_you_mean(name, _READERS)}")
        parts[name] = value
    return parts


def _frequency(name: str, value: str) -> dict[str, Any]:
    if value in _FINER_THAN_A_DAY:
        raise ValueError(f"{name}={value} is not taken: what recurs has one occurrence a day at most")
    return {"frequency": _one_of(Frequency, name, value)}


def _skip(name: str, value: str) -> dict[str, Any]:
    return {"skip": _one_of(Skip, name, value)}


def _one_of(choices: type[StrEnum], name: str, value: str) -> StrEnum:
    if value not in list(choices):
        meant = did_you_mean(value, list(choices))
        raise ValueError(f"{name}={shown(value)} is none of {', '.join(choices)}{meant}")
    return choices(value)


def _calendar(name: str, value: str) -> dict[str, Any]:
    if value != "GREGORIAN":
        raise ValueError(f"{name}={shown(value)} is not taken: only GREGORIAN is")
    return {}


def _until(name: str, value: str) -> dict[str, Any]:
    match = _UNTIL.fullmatch(value)
    if match is None:
        raise ValueError(f"{name}={shown(value)} is not a date or time: write it like 20261231")
    year, month, day, hour, minute, second, utc = match.groups()
    last_day = parse_date(f"{year}-{month}-{day}")
    clock = time.max if hour is None else parse_clock_time(f"{hour}:{minute}:{second}")
    return {"until": datetime.combine(last_day, clock), "until_is_utc": bool(utc)}


def _weekday(text: str, name: str) -> RuleWeekday:
    match = _WEEKDAY.fullmatch(text)
    if match is None or (match[1] and not 1 <= abs(int(match[1])) <= 53):
        raise ValueError(f"{shown(text)} in {name} is not a weekday, such as MO, or 1MO for the first Monday")
    return RuleWeekday(_WEEKDAYS.index(match[2]), int(match[1] or 0))


def _weekdays(name: str, value: str) -> dict[str, Any]:
    return {"weekdays": tuple(_weekday(text, name) for text in value.split(","))}


def _week_start(name: str, value: str) -> dict[str, Any]:
    if value not in _WEEKDAYS:
        raise ValueError(f"{name}={shown(value)} is none of {', '.join(_WEEKDAYS)}")
    return {"week_start": _WEEKDAYS.index(value)}


def _number(text: str, name: str, largest: int, *, signed: bool) -> int:
    number = int(text) if _NUMBER.fullmatch(text) else 0
    if not 1 <= abs(number) <= largest or (number < 0 and not signed):
        also = f", or from -{largest} to -1 counted from the end" if signed else ""
        raise ValueError(f"{shown(text)} in {name} is not a whole number from 1 to {largest}{also}")
    return number


def _one(field: str, largest: int) -> Callable[[str, str], dict[str, Any]]:
    return lambda name, value: {field: _number(value, name, largest, signed=False)}


def _several(field: str, largest: int, *, signed: bool = True) -> Callable[[str, str], dict[str, Any]]:
    return lambda name, value: {field: tuple(_number(text, name, largest, signed=signed) for text in value.split(","))}


_READERS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "FREQ": _frequency,
    "INTERVAL": _one("interval", LARGEST_INTERVAL),
    "COUNT": _one("count", LARGEST_COUNT),
    "UNTIL": _until,
    "BYMONTH": _several("months", 12, signed=False),
    "BYWEEKNO": _several("week_numbers", 53),
    "BYYEARDAY": _several("year_days", 366),
    "BYMONTHDAY": _several("month_days", 31),
    "BYDAY": _weekdays,
    "BYSETPOS": _several("positions", 366),
    "WKST": _week_start,
    "SKIP": _skip,
    "RSCALE": _calendar,
}


def _refuse_contradictions(rule: RecurrenceRule) -> None:
    for wrong, why in _contradictions(rule):
        if wrong:
            raise ValueError(f"{shown(rule.text)}: {why}")


def _contradictions(rule: RecurrenceRule) -> Iterable[tuple[bool, str]]:
    yearly, monthly = rule.frequency is Frequency.YEARLY, rule.frequency is Frequency.MONTHLY
    days = [part for part in (rule.week_numbers, rule.year_days, rule.month_days) if part]
    largest = max((abs(day.number) for day in rule.weekdays), default=0)
    return (
        (bool(rule.count and rule.until), "COUNT and UNTIL exclude each other"),
        (
            bool(rule.week_numbers or rule.year_days) and not yearly,
            "BYWEEKNO and BYYEARDAY are for FREQ=YEARLY",
        ),
        (
            bool(rule.month_days) and rule.frequency is Frequency.WEEKLY,
            "BYMONTHDAY does not go with FREQ=WEEKLY",
        ),
        (len(days) > 1, "only one of BYWEEKNO, BYYEARDAY and BYMONTHDAY can be given"),
        (largest > 0 and not (monthly or yearly), "a number before a weekday is for MONTHLY and YEARLY"),
        (largest > 0 and bool(days), "a number before a weekday goes with BYMONTH alone"),
        (largest > 5 and (monthly or bool(rule.months)), "no month has a sixth weekday of one name"),
        (
            bool(rule.positions) and not (days or rule.weekdays or rule.months),
            "BYSETPOS needs another BY part",
        ),
    )
