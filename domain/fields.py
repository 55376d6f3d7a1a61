"""The fields of facts: how each kind of value is written, and which values are personal.

JSON has few types, so every reader here takes text, and refuses numbers where a guess would be needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt
from pydantic import StringConstraints as Shape

from domain.civil_time import as_instant

LONGEST_TEXT = 10_000
"""Characters of free text in one field; longer ones belong into the system that owns them."""


EARLIEST, LATEST = 1800, 9000
"""Years; beyond them are typing errors, and the ends of the calendar are where arithmetic breaks."""

D = TypeVar("D", bound=date)


class Personal:
    """Marks a field whose value is personal: kept by reference, never in the log (semantics 8)."""


class Fields(BaseModel):
    """The fields of one noun, all optional; what is not listed is kept under `extra`.

    `PERSONAL` names those that are personal, `FLAGS` those that are yes or no.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    PERSONAL: ClassVar[frozenset[str]] = frozenset()
    FLAGS: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Remember which fields are personal, and which yes or no."""
        super().__pydantic_init_subclass__(**kwargs)
        fields = cls.model_fields.items()
        cls.PERSONAL = frozenset(name for name, info in fields if _marked((*info.metadata, info.annotation)))
        cls.FLAGS = frozenset(name for name, info in fields if StrictBool in get_args(info.annotation))


def _marked(parts: Iterable[object]) -> bool:
    """Say whether a `Personal` mark stands anywhere in an annotation, also inside `… | None`."""
    return any(
        isinstance(part, Personal) or _marked((*get_args(part), *getattr(part, "__metadata__", ()))) for part in parts
    )


def without_controls(text: str) -> str:
    """Return the text, or refuse NUL and lone surrogates, which no database takes; new lines are fine."""
    if text.isprintable():
        return text
    for character in text:
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise ValueError(f"holds the character U+{ord(character):04X}, which cannot be stored")
    return text


def _read_instant(value: object) -> datetime:
    if isinstance(value, datetime):
        return inside_calendar(as_instant(value))
    if not isinstance(value, str) or len(value) < 16:
        raise ValueError(f"{value!r} is not an instant: write it like 2026-05-12T10:00:00+02:00")
    return inside_calendar(as_instant(datetime.fromisoformat(value)))


def _read_date(value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return inside_calendar(value)
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise ValueError(f"{value!r} is not a date: write it like 2026-05-12")
    return inside_calendar(date.fromisoformat(value))


def inside_calendar(value: D) -> D:
    """Return a time whose local date, and the ones beside it, every zone's calendar has; raises ValueError."""
    if not EARLIEST <= value.year <= LATEST:
        raise ValueError(f"{value.isoformat()} lies outside of the years {EARLIEST} to {LATEST}")
    return value


def _read_day_or_instant(value: object) -> date | datetime:
    whole_day = isinstance(value, str) and _DATE.fullmatch(value)
    return _read_date(value) if whole_day or type(value) is date else _read_instant(value)


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

Text = Annotated[str, Shape(max_length=LONGEST_TEXT), AfterValidator(without_controls)]
"""Free text of bounded length."""

PersonalText = Annotated[str, Shape(max_length=LONGEST_TEXT), AfterValidator(without_controls), Personal()]
"""Free text that says something about a person, or may."""

Texts = Annotated[tuple[Text, ...], Field(max_length=200)]
"""A short list of texts, such as tags."""

Moment = Annotated[datetime, BeforeValidator(_read_instant)]
"""An instant: RFC 3339 with an offset."""

Day = Annotated[date, BeforeValidator(_read_date)]
"""A local date: 2026-05-12."""

DayOrMoment = Annotated[date | datetime, BeforeValidator(_read_day_or_instant)]
"""An instant, or a local date for what lasts whole days."""

Flag = StrictBool
"""Yes or no: true or false, never 1 or "yes"."""

Count = Annotated[StrictInt, Field(ge=0, le=1_000_000_000)]
"""A whole number that is not negative."""

EmailAddress = Annotated[
    str,
    Shape(max_length=254, pattern=r"^[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+\.[^@\s\x00-\x1f]+$"),
    AfterValidator(without_controls),
    Personal(),
]
"""An email address (RFC 5321 length); whether it can be written to, the channel finds out."""

PhoneNumber = Annotated[str, Shape(pattern=r"^\+[1-9][0-9]{6,14}$"), Personal()]
"""A phone number in E.164."""

Locale = Annotated[str, Shape(max_length=35, pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$")]
"""A language tag in the shape of BCP 47: de, de-CH, pt_BR."""

CurrencyCode = Annotated[str, Shape(pattern=r"^[A-Z]{3}$")]
"""A currency by its ISO 4217 code."""

ClockTime = Annotated[str, Shape(pattern=r"^([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$")]
"""A time of day on the wall clock: 09:00."""
