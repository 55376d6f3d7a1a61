"""The dates that a recurrence rule comes to.

The steps are those of RFC 7529: dateutil expands each period to dates or months, a day that a month lacks is
left out or moved, and then the other parts limit what is left.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import groupby
from typing import Any

from dateutil import rrule

from domain.recurrence_rules import Frequency, RecurrenceRule, RuleWeekday, Skip

LONGEST_SEARCH = {
    Frequency.DAILY: 15_000,
    Frequency.WEEKLY: 2_200,
    Frequency.MONTHLY: 2_200,
    Frequency.YEARLY: 2_200,
}
"""Periods without an occurrence after which a rule counts as over.

The rarest ordinary combination, 29 February on a given weekday, comes round within forty years.
"""

_DAY = timedelta(days=1)


def completed(rule: RecurrenceRule, starts_on: date) -> RecurrenceRule:
    """Return the rule with the weekday, or the day of the month or year, that it leaves to its start."""
    if rule.frequency is Frequency.WEEKLY or rule.week_numbers:
        return replace(rule, weekdays=rule.weekdays or (RuleWeekday(starts_on.weekday(), 0),))
    if rule.frequency is Frequency.DAILY or rule.year_days or rule.weekdays or rule.month_days:
        return rule
    months = rule.months or ((starts_on.month,) if rule.frequency is Frequency.YEARLY else ())
    return replace(rule, months=months, month_days=(starts_on.day,))


def dates_of(rule: RecurrenceRule, starts_on: date, near: date) -> Iterator[date]:
    """Yield the dates of a completed rule from `starts_on`, in order, beginning a little before `near`.

    What that costs does not depend on how long ago the start was. COUNT and UNTIL are not looked at.
    """
    latest, misses = starts_on - _DAY, 0
    for _, group in groupby(_bases(rule, starts_on, near), partial(_period, rule)):
        misses += 1
        for found in _found_in(rule, group):
            # Not twice: days of neighbouring months may have been moved onto one date.
            if found > latest:
                latest, misses = found, 0
                yield found
        if misses > LONGEST_SEARCH[rule.frequency]:
            return


def _bases(rule: RecurrenceRule, starts_on: date, near: date) -> Iterator[date]:
    """Yield what dateutil expands the rule to: dates, or the first days of months for BYMONTHDAY."""
    first = _period(rule, starts_on)
    steps = max(0, _period(rule, near) - 1 - first) // rule.interval
    start = _start_of_period(rule, first + steps * rule.interval)
    expanded = rrule.rrule(
        _frequency(rule),
        dtstart=datetime.combine(start, time.min),
        interval=rule.interval,
        wkst=rule.week_start,
        **_expansion(rule),
    )
    try:
        for base in expanded:
            yield base.date()
    except ValueError:
        # The last week of the calendar reaches beyond it, which dateutil does not look out for.
        return


def _frequency(rule: RecurrenceRule) -> Any:
    return getattr(rrule, rule.frequency.value)


def _expansion(rule: RecurrenceRule) -> dict[str, Any]:
    if rule.frequency is Frequency.DAILY:
        return {}
    if rule.year_days:
        return {"byyearday": rule.year_days}
    months = {"bymonth": rule.months or range(1, 13)} if rule.frequency is Frequency.YEARLY else {}
    if rule.month_days:
        return {"bymonthday": 1, **months}
    weekdays = {"byweekday": [rrule.weekday(day, number or None) for day, number in rule.weekdays]}
    if rule.week_numbers:
        return {"byweekno": rule.week_numbers, **weekdays}
    # Without BYMONTH a yearly rule counts its weekdays in the year.
    return {**weekdays, **months} if rule.months else weekdays


def _found_in(rule: RecurrenceRule, bases: Iterable[date]) -> list[date]:
    """Return the dates that one period's bases come to, after SKIP, the limits and BYSETPOS."""
    weekdays = {weekday for weekday, _ in rule.weekdays}
    placed = (day for base in bases if not rule.months or base.month in rule.months for day in _placed(rule, base))
    found = sorted({day for day in placed if not weekdays or day.weekday() in weekdays})
    return _at_positions(found, rule.positions) if rule.positions else found


def _placed(rule: RecurrenceRule, base: date) -> Iterator[date]:
    if rule.month_days and rule.frequency is not Frequency.DAILY:
        for number in rule.month_days:
            yield from _day_of_month(base, number, rule.skip)
    elif not rule.month_days or _has_number(base, rule.month_days):
        yield base


def _day_of_month(first: date, number: int, skip: Skip) -> Iterator[date]:
    """Yield the day of a month by its number, which counts from the end where it is negative."""
    length = monthrange(first.year, first.month)[1]
    if abs(number) <= length:
        yield first.replace(day=number if number > 0 else length + 1 + number)
    elif skip is not Skip.OMIT:
        last = first.replace(day=length)
        before, after = (last, last + _DAY) if number > 0 else (first - _DAY, first)
        yield before if skip is Skip.BACKWARD else after


def _has_number(day: date, numbers: tuple[int, ...]) -> bool:
    return day.day in numbers or day.day - monthrange(day.year, day.month)[1] - 1 in numbers


def _at_positions(found: list[date], positions: tuple[int, ...]) -> list[date]:
    places = {position - 1 if position > 0 else len(found) + position for position in positions}
    return [day for place, day in enumerate(found) if place in places]


def _period(rule: RecurrenceRule, day: date) -> int:
    match rule.frequency:
        case Frequency.DAILY:
            return day.toordinal()
        case Frequency.WEEKLY:
            return (day.toordinal() - 1 - rule.week_start) // 7
        case Frequency.MONTHLY:
            return day.year * 12 + day.month - 1
        case Frequency.YEARLY:
            return day.year


def _start_of_period(rule: RecurrenceRule, period: int) -> date:
    match rule.frequency:
        case Frequency.DAILY:
            return date.fromordinal(period)
        case Frequency.WEEKLY:
            return date.fromordinal(max(1, period * 7 + 1 + rule.week_start))
        case Frequency.MONTHLY:
            return date(period // 12, period % 12 + 1, 1)
        case Frequency.YEARLY:
            return date(period, 1, 1)
