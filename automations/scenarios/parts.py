"""One mapping of a scenario file, read setting by setting; times in it are local to the file's zone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from automations.mistakes import Mistakes, Path
from automations.registry import nearest
from automations.rule_fields import FieldReader
from automations.scenarios.expectations import Written
from domain.civil_time import as_instant, instant_of
from domain.durations import parse_duration
from domain.text_values import shown
from domain.time_texts import parse_date, parse_wall

_MINUTE, _SECOND, _LEAST = timedelta(minutes=1), timedelta(seconds=1), timedelta(microseconds=1)
_WITH_SECONDS = re.compile(r"[T ][0-9]{1,2}:[0-9]{2}:[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Reading:
    """One document while it is read: its zone, what is wrong so far, and the rules that expectations name."""

    zone: ZoneInfo
    mistakes: Mistakes
    named_rules: list[tuple[Path, str]] = field(default_factory=list)

    def part(self, data: object, path: Path, what: str) -> Part | None:
        """Return a mapping to be read, or None with a mistake where there is none."""
        if isinstance(data, dict):
            return Part(data, path, self)
        self.mistakes.add(path, f"{what}, and not {shown(data)}")
        return None

    def items(self, data: object, path: Path, what: str) -> Iterator[tuple[Any, Path]]:
        """Return each item of a list with its place; nothing at all is an empty list."""
        if data is None:
            return
        if not isinstance(data, list):
            self.mistakes.add(path, f"{what}: begin each with a dash, and not {shown(data)}")
            return
        yield from ((item, (*path, index)) for index, item in enumerate(data))


class Part(FieldReader):
    """Reads the settings of one mapping; each that is wrong leaves a mistake, and counts as not written."""

    def __init__(self, data: dict[str, Any], path: Path, reading: Reading) -> None:
        super().__init__(data, path, reading.mistakes)
        self.path, self.reading = path, reading

    def only(self, known: Iterable[str]) -> None:
        """Keep a mistake for each setting that means nothing here."""
        names = tuple(known)
        for key in self.data:
            if key not in names:
                self.reading.mistakes.unknown_key(self.path, key, names)

    def instant(self, name: str) -> datetime | None:
        """Return an instant: a local time such as `2026-05-12 10:00`, or RFC 3339 with an offset."""
        written = self.written(name)
        return None if written is None else written.instant

    def written(self, name: str) -> Written | None:
        """Return an instant together with how exactly it was written."""
        found = self.given(name)
        if found is None:
            return None
        try:
            return read_time(found, self.reading.zone)
        except ValueError as error:
            self.mistake(name, str(error))
            return None

    def day(self, name: str) -> date | None:
        """Return a date."""
        found = self.given(name)
        if found is None:
            return None
        try:
            if not isinstance(found, str):
                raise ValueError(f"{shown(found)} is not a date: write it like 2026-05-12")
            return parse_date(found)
        except ValueError as error:
            self.mistake(name, str(error))
            return None

    def duration(self, name: str) -> timedelta | None:
        """Return an amount of elapsed time above zero."""
        found = self.given(name)
        if found is None:
            return None
        try:
            if not isinstance(found, str):
                raise ValueError(f"{shown(found)} is not an amount of time: write it like 5 minutes")
            duration = parse_duration(found)
            if not duration:
                raise ValueError(f"{name} is more than nothing")
            return duration
        except ValueError as error:
            self.mistake(name, str(error))
            return None

    def count(self, name: str, *, least: int = 0) -> int | None:
        """Return a whole number that is not below the least one."""
        found = self.given(name)
        if found is None:
            return None
        if not isinstance(found, int) or isinstance(found, bool) or found < least:
            self.mistake(name, f"{name} is a whole number from {least}, and not {shown(found)}")
            return None
        return found

    def times(self) -> int:
        """Return how many of this are expected: one, unless `times` says more."""
        return self.count("times", least=1) or 1

    def one_of(self, name: str, choices: Iterable[str], *, required: bool = False) -> str:
        """Return one of some texts, or an empty one where nothing is written."""
        found, known = self.given(name), tuple(choices)
        if found is None:
            if required:
                self.missing(name)
            return ""
        if found not in known:
            self.mistake(name, f"{name} is never {shown(found)}{nearest(str(found), known)}")
            return ""
        return str(found)

    def words(self, name: str) -> str:
        """Return a text of one or more lines, or an empty one."""
        found = self.given(name)
        if found is None:
            return ""
        if not isinstance(found, str) or not found:
            self.mistake(name, f"{name} is text, and not {shown(found)}")
            return ""
        return found

    def rule(self, name: str = "rule") -> str:
        """Return the id of a rule, which some rule of the scenario has to have."""
        found = self.text(name)
        if found:
            self.reading.named_rules.append(((*self.path, name), found))
        return found


def read_time(found: object, zone: ZoneInfo) -> Written:
    """Return the instant of a local time in a zone, or of RFC 3339 text; raises ValueError."""
    if not isinstance(found, str):
        raise ValueError(f"{shown(found)} is not a time: write it like 2026-05-12 10:00")
    try:
        aware = datetime.fromisoformat(found)
    except ValueError:
        aware = None
    if aware is not None and aware.tzinfo is not None:
        return Written(as_instant(aware), _precision(found, aware))
    wall = parse_wall(found)
    return Written(instant_of(wall, zone), _precision(found, wall))


def _precision(text: str, time: datetime) -> timedelta:
    if time.microsecond:
        return _LEAST
    return _SECOND if _WITH_SECONDS.search(text) else _MINUTE
