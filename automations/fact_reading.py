"""How a fact's value is read to be compared with a rule's value.

Facts mostly come typed. Those of any type come as JSON: a number may be text there, and is read as the
number it is. Text that is no number is a fault against a number, never silently different from it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import NamedTuple

from automations.verdicts import Truth
from automations.written_values import duration_in, money_in, number_in, timely_in, yes_no_in
from domain.money import Money


class Remark(NamedTuple):
    """An answer that is neither true nor false, and why."""

    truth: Truth
    note: str


Read = Callable[[object], object]
"""Reads a fact's value as something comparable with the rule's value, or as a `Remark`."""

_WHOLE_DAY = Remark(Truth.UNKNOWN, "a whole day has no time of day")

_CALLED: dict[type, str] = {
    str: "a text that is",
    Money: "an amount of money, which is",
    bool: "yes or no, which is",
    int: "a number, which is",
    Decimal: "a number, which is",
    float: "a number, which is",
    datetime: "an instant, which is",
    date: "a date, which is",
    time: "a clock time, which is",
    timedelta: "a duration, which is",
    tuple: "a list, which is",
    list: "a list, which is",
}


def fault(seen: object, wanted: str) -> Remark:
    """Return the fault of a value that is not what the rule compares with: `a text that is no number`."""
    # Only the kind of value is named: the value itself may be personal.
    return Remark(Truth.FAULT, f"{_CALLED.get(type(seen), 'something else, which is')} no {wanted}")


def number(seen: object) -> object:
    """Read a number."""
    if type(seen) is int:
        return seen
    if isinstance(seen, Decimal):
        return seen if seen.is_finite() else fault(seen, "number to compare with")
    if isinstance(seen, float):
        return number(Decimal(repr(seen)))
    found = number_in(seen) if isinstance(seen, str) else None
    return fault(seen, "number") if found is None else found


def amount_in(currency: str) -> Read:
    """Return the reader of amounts in one currency; another currency is not comparable, which is no fault."""

    def read(seen: object) -> object:
        found = money_in(seen) if isinstance(seen, str) else seen
        if not isinstance(found, Money):
            return fault(seen, "amount of money")
        if found.currency != currency:
            return Remark(Truth.UNKNOWN, f"not comparable: {found.currency} with {currency}")
        return found.amount

    return read


def day(seen: object) -> object:
    """Read a local date; an instant is in its space's zone already."""
    found = _timely(seen)
    if isinstance(found, datetime):
        return found.date()
    return found if isinstance(found, date) else fault(seen, "date")


def clock(seen: object) -> object:
    """Read a local time of day."""
    found = _timely(seen)
    if isinstance(found, datetime):
        return found.time()
    if isinstance(found, time):
        return found.replace(tzinfo=None)
    return _WHOLE_DAY if isinstance(found, date) else fault(seen, "clock time")


def wall(seen: object) -> object:
    """Read a local date and time."""
    found = _timely(seen)
    if isinstance(found, datetime):
        return found.replace(tzinfo=None)
    return _WHOLE_DAY if isinstance(found, date) else fault(seen, "local time")


def instant(seen: object) -> object:
    """Read an instant."""
    found = _timely(seen)
    if isinstance(found, datetime) and found.tzinfo is not None:
        return found.astimezone(UTC)
    is_day = isinstance(found, date) and not isinstance(found, datetime)
    return _WHOLE_DAY if is_day else fault(seen, "instant")


def duration(seen: object) -> object:
    """Read elapsed time."""
    found = duration_in(seen) if isinstance(seen, str) else seen
    return found if isinstance(found, timedelta) else fault(seen, "duration")


def yes_or_no(seen: object) -> object:
    """Read yes or no."""
    found = yes_no_in(seen)
    return fault(seen, "yes or no") if found is None else found


def text(seen: object) -> object:
    """Read a text, in its composed Unicode form."""
    if isinstance(seen, str):
        return seen if seen.isascii() else unicodedata.normalize("NFC", seen)
    return fault(seen, "text")


def items(seen: object) -> object:
    """Read a list as a tuple of texts; numbers in it become text."""
    if not isinstance(seen, (tuple, list)):
        return fault(seen, "list")
    return tuple(text(item) if isinstance(item, str) else str(item) for item in seen)


def _timely(seen: object) -> object:
    return timely_in(seen) if isinstance(seen, str) else seen
