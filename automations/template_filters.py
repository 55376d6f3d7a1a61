"""Filters of templates: money, numbers, dates and times as people of a locale write them (CLDR).

Every filter is bounded: no text that goes in or comes out is longer than the limit, so that no chain of
filters can fill the memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_datetime, format_time, get_timezone_name
from babel.lists import format_list
from babel.numbers import format_currency, format_decimal
from babel.units import format_unit
from liquid.exceptions import FilterArgumentError, FilterError, LiquidError, UndefinedError
from liquid.filter import with_context
from liquid.undefined import Undefined

from automations.template_budget import charge
from automations.template_facts import ShownInstant
from automations.written_values import duration_in, money_in, number_in, timely_in
from domain.civil_time import zone
from domain.money import Money

LONGEST_TEXT = 100_000
"""Characters of a text that a filter takes or gives."""

LONGEST_LIST = 10_000
"""Items of a list that a filter takes."""

_STYLES = ("short", "medium", "long", "full")
_Filter = Callable[..., Any]


@functools.lru_cache(maxsize=256)
def locale_of(text: str) -> Locale:
    """Return the locale of a language tag such as `de-CH`; its language if need be, or English."""
    parts = text.replace("-", "_").split("_")
    for candidate in ("_".join(parts), parts[0]):
        try:
            return Locale.parse(candidate)
        except (UnknownLocaleError, ValueError, TypeError):
            continue
    return Locale("en")


def filters() -> Mapping[str, _Filter]:
    """Return our own filters by name; they take the place of Liquid's."""
    return {
        "money": _money,
        "number": _number,
        "date": _date,
        "time": _time,
        "datetime": _datetime,
        "zone_name": _zone_name,
        "in_zone": _in_zone,
        "duration": _duration,
        "list": _list,
        "join": _join,
        "replace": _replace,
    }


def bounded(function: _Filter) -> _Filter:
    """Return a filter that refuses what is too long, and takes no list but a real one.

    What Liquid's own filters say of a value may repeat it, so their words are not.
    """
    is_ours = function.__module__ == __name__

    @functools.wraps(function)
    def limited(*values: Any, **named: Any) -> Any:
        for value in values:
            _refuse_long(value)
            charge(value)
        try:
            result = function(*values, **named)
        except LiquidError as error:
            if is_ours or isinstance(error, UndefinedError):
                raise
            why = "can't divide by 0" if "divide by 0" in str(error) else f"{function.__name__} cannot be used here"
            raise FilterError(why, token=None) from error
        _refuse_long(result)
        charge(result)
        return result

    return limited


def _refuse_long(value: object) -> None:
    if issubclass(type(value), Undefined):  # asking anything else of it would be taken for a use
        return
    if isinstance(value, (list, tuple, range)) and len(value) > LONGEST_LIST:
        raise FilterError(f"a list has at most {LONGEST_LIST} items here", token=None)
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        raise FilterError(f"a text has at most {LONGEST_TEXT} characters here", token=None)
    if isinstance(value, int) and value.bit_length() > 256:
        raise FilterError("the number is too large", token=None)


def _wrong(name: str, wanted: str) -> FilterArgumentError:
    # The value is not repeated: it may be personal.
    return FilterArgumentError(f"{name} needs {wanted}", token=None)


def _locale(context: Any) -> str:
    return str(context.locale)


@with_context
def _money(value: object, *, context: Any) -> str:
    money = money_in(value) if isinstance(value, str) else value
    if not isinstance(money, Money):
        raise _wrong("money", "an amount of money")
    return format_currency(money.amount, money.currency, locale=_locale(context))


@with_context
def _number(value: object, *, context: Any) -> str:
    number = number_in(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, (int, float, Decimal)):
        raise _wrong("number", "a number")
    return str(format_decimal(number, locale=_locale(context)))


@with_context
def _date(value: object, style: str = "long", *, context: Any) -> str:
    found = _timely(value)
    if isinstance(found, time) or found is None:
        raise _wrong("date", "a date or an instant")
    return str(format_date(found, _style("date", style), locale=_locale(context)))


@with_context
def _time(value: object, style: str = "short", *, context: Any) -> str:
    found = _timely(value)
    if isinstance(found, datetime):
        found = found.time()
    if not isinstance(found, time):
        raise _wrong("time", "a clock time or an instant")
    return str(format_time(found, _style("time", style), locale=_locale(context)))


@with_context
def _datetime(value: object, style: str = "medium", *, context: Any) -> str:
    found = _timely(value)
    if not isinstance(found, datetime):
        raise _wrong("datetime", "an instant")
    if style not in _STYLES:
        return str(format_datetime(found, _style("datetime", style), tzinfo=found.tzinfo, locale=_locale(context)))
    # The time always in its short form: seconds and the zone's name are seldom what people want to read.
    day = format_date(found, style, locale=_locale(context))
    clock = format_time(found.time(), "short", locale=_locale(context))
    pattern = Locale.parse(_locale(context)).datetime_formats[style]
    return str(pattern).replace("'", "").replace("{0}", clock).replace("{1}", day)


@with_context
def _zone_name(value: object, *, context: Any) -> str:
    found = _timely(value)
    if not isinstance(found, datetime) or found.tzinfo is None:
        raise _wrong("zone_name", "an instant")
    return str(get_timezone_name(found, width="long", locale=_locale(context)))


def _in_zone(value: object, name: object) -> datetime:
    found = _timely(value)
    if not isinstance(found, datetime) or found.tzinfo is None or not isinstance(name, str):
        raise _wrong("in_zone", "an instant and the name of a zone")
    moved = found.astimezone(zone(name))
    return ShownInstant.combine(moved.date(), moved.timetz()).replace(fold=moved.fold)


@with_context
def _duration(value: object, *, context: Any) -> str:
    found = duration_in(value) if isinstance(value, str) else value
    if not isinstance(found, timedelta):
        raise _wrong("duration", "a duration")
    minutes = int(abs(found).total_seconds() // 60)
    counts = {"day": minutes // 1440, "hour": minutes // 60 % 24, "minute": minutes % 60}
    parts = [_counted(count, unit, context) for unit, count in counts.items() if count]
    return " ".join(parts) or _counted(0, "minute", context)


def _counted(count: int, unit: str, context: Any) -> str:
    return str(format_unit(count, f"duration-{unit}", locale=_locale(context)))


@with_context
def _list(value: object, *, context: Any) -> str:
    if not isinstance(value, (list, tuple)):
        raise _wrong("list", "a list")
    return str(format_list([str(item) for item in value], locale=_locale(context)))


def _join(value: object, separator: object = ", ") -> str:
    if isinstance(value, Undefined) or not isinstance(value, (list, tuple, range)):
        return str(value)
    between = str(separator)
    texts = [str(item) for item in value]
    if sum(map(len, texts)) + len(between) * len(texts) > LONGEST_TEXT:
        raise FilterError(f"a text has at most {LONGEST_TEXT} characters here", token=None)
    return between.join(texts)


def _replace(value: object, old: object, new: object = "") -> str:
    text, wanted, put = str(value), str(old), str(new)
    if len(text) + text.count(wanted) * len(put) > LONGEST_TEXT:
        raise FilterError(f"a text has at most {LONGEST_TEXT} characters here", token=None)
    return text.replace(wanted, put)


def _timely(value: object) -> date | datetime | time | None:
    if isinstance(value, str):
        return timely_in(value)
    return value if isinstance(value, (date, time)) else None


def _style(name: str, style: object) -> Any:
    if not isinstance(style, str) or "%" in style or len(style) > 100:
        raise _wrong(name, f"{', '.join(_STYLES)} or a CLDR pattern like EEEE d MMMM")
    return style
