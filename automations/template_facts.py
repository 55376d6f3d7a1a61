"""Facts as templates see them: names below names, and values whose plain text is what settings take."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

from liquid.exceptions import UndefinedError

from automations.fact_catalogue import is_branch
from automations.ports import FactSource
from automations.visible_text import whole
from domain.durations import format_duration
from domain.time_texts import format_clock_time, format_wall


class FactNode:
    """A name with facts below it, such as `booking` or `event.before`."""

    __slots__ = ("_facts", "_path")

    def __init__(self, path: str, facts: FactSource) -> None:
        self._path, self._facts = path, facts

    def __getitem__(self, key: object) -> object:
        if not isinstance(key, str):
            raise KeyError(key)
        path = f"{self._path}.{key}"
        if is_branch(path):
            return FactNode(path, self._facts)
        value = self._facts.value(path)
        if value is None:
            raise KeyError(key)
        return as_shown(value)

    def __str__(self) -> str:
        raise UndefinedError(f"{self._path} is no value: name a fact below it", token=None)


class ShownInstant(datetime):
    """An instant whose text is its local date and time: `2026-05-12 10:00`."""

    def __str__(self) -> str:
        return format_wall(self.replace(tzinfo=None))


class ShownTime(time):
    """A clock time whose text has no seconds where they are nought: `09:00`."""

    def __str__(self) -> str:
        return format_clock_time(self.replace(tzinfo=None))


class ShownDuration(timedelta):
    """A duration whose text is in words: `90 minutes`."""

    def __str__(self) -> str:
        return format_duration(self)


class ShownList(tuple[Any, ...]):
    """A list whose text has commas: `vip, founder`."""

    __slots__ = ()

    def __str__(self) -> str:
        return ", ".join(str(item) for item in self)


def as_shown(value: object) -> object:
    """Return a fact's value with the text that people would write for it."""
    match value:
        case str():
            return whole(value)
        case datetime():
            return ShownInstant.combine(value.date(), value.timetz()).replace(fold=value.fold)
        case date():
            return value
        case time():
            return ShownTime(value.hour, value.minute, value.second, value.microsecond)
        case timedelta():
            return ShownDuration(value.days, value.seconds, value.microseconds)
        case tuple() | list():
            return ShownList(as_shown(item) for item in value)
    return value
