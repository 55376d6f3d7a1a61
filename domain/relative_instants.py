"""Instants as settings name them: `booking.starts_at`, `2 days after invoice.due_on at 09:00`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema

from domain.civil_time import as_instant, end_of_date, start_of_date
from domain.offsets import Offset
from domain.text_values import shown, text_schema

LONGEST_NAMED = 300
"""Characters of a named instant."""

_REMEDY = "write it like booking.starts_at or 15 minutes before booking.starts_at"
_FACT = r"[A-Za-z]\w*(?:\.[\w-]+)+"
_PLAIN = re.compile(_FACT)
_RELATIVE = re.compile(rf"(.+?) +(before|after) +({_FACT})(?: +at +(\S+))?", re.IGNORECASE)


class Direction(StrEnum):
    """On which side of its fact an instant lies."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class RelativeInstant:
    """The instant of a fact, or one that lies an offset before or after it.

    `fact` is the path of a fact whose value is an instant or a date; whether there is one, the place that
    holds the setting checks. `direction` and `offset` are given together or not at all.
    """

    fact: str
    direction: Direction | None = None
    offset: Offset | None = None

    @classmethod
    def parse(cls, text: str) -> RelativeInstant:
        """Return the instant that a text such as `15 minutes before booking.starts_at` names."""
        text = text.strip(" ")
        if _PLAIN.fullmatch(text):
            return cls(text)
        match = _RELATIVE.fullmatch(text) if len(text) <= LONGEST_NAMED else None
        if match is None:
            raise ValueError(f"{shown(text)} does not name an instant: {_REMEDY}")
        amount, direction, fact, clock = match.groups()
        offset = Offset.parse(amount if clock is None else f"{amount} at {clock}")
        return cls(fact, Direction(direction.lower()), offset)

    @classmethod
    def read(cls, value: object) -> RelativeInstant:
        """Return a named instant from its text."""
        if isinstance(value, RelativeInstant):
            return value
        if not isinstance(value, str):
            raise ValueError(f"{shown(value)} does not name an instant: {_REMEDY}")
        return cls.parse(value)

    def resolve(self, value: object, zone: ZoneInfo, *, as_limit: bool = False) -> datetime:
        """Return the instant, given the value of the fact: an aware datetime or a date, in a zone.

        Without an offset a date stands for its first instant, or as a limit (`until`) for its end.
        """
        if not isinstance(value, date):
            raise ValueError(f"{self.fact} is {shown(value)}, which is neither an instant nor a date")
        if self.offset is not None:
            forwards = self.direction is Direction.AFTER
            return self.offset.after(value, zone) if forwards else self.offset.before(value, zone)
        if isinstance(value, datetime):
            return as_instant(value)
        return end_of_date(value, zone) if as_limit else start_of_date(value, zone)

    def __str__(self) -> str:
        if self.offset is None:
            return self.fact
        amount, at, clock = str(self.offset).partition(" at ")
        return f"{amount} {self.direction} {self.fact}{at}{clock}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return text_schema(cls.read)
