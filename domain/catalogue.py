"""The event catalogue: is this data what a fact of this type must carry, and what exactly does it say?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from domain import bookings, reminders
from domain.errors import InvalidInput, Mistake
from domain.fields import Fields
from domain.nouns import NOUN_OF_TYPE
from domain.text_values import shown


def known(fact_type: str) -> bool:
    """Say whether the catalogue has this type of event."""
    return fact_type in NOUN_OF_TYPE


def read_data(fact_type: str, data: Any) -> Fields:
    """Return the fields that an event of a known type carries, or raise InvalidInput with every fault.

    Paths of mistakes begin with `data`. Fields that are not listed are kept (`model_extra`).
    """
    if not isinstance(data, Mapping):
        raise InvalidInput([Mistake(("data",), f"must be an object, not {shown(data)}")])
    noun = NOUN_OF_TYPE[fact_type]
    missing = [Mistake(("data", name), "is missing") for name in noun.types[fact_type].needs if data.get(name) is None]
    try:
        read = noun.fields_of(fact_type).model_validate(data)
    except ValidationError as error:
        raise InvalidInput(missing + mistakes_of(error, ("data",))) from None
    faults = [Mistake(("data", name), fault) for name, fault in _faults_among(fact_type, read)]
    if missing or faults:
        raise InvalidInput(missing + faults)
    return read


def mistakes_of(
    error: ValidationError, path: tuple[str | int, ...] = (), *, shows_values: bool = True
) -> list[Mistake]:
    """Return what pydantic found as mistakes, each with its place and the value it stumbled over.

    Where secrets may stand, also in the wrong place or under a misspelt name, no value is shown.
    """
    return [
        Mistake((*path, *found["loc"]), f"{_message(found['msg'])}, got {shown(found['input'])}")
        if shows_values and found["type"] not in ("value_error", "missing")
        else Mistake((*path, *found["loc"]), _message(found["msg"]))
        for found in error.errors(include_url=False)
    ]


def _message(text: str) -> str:
    return text.removeprefix("Value error, ").removeprefix("Input ")


def _faults_among(fact_type: str, read: Fields) -> list[tuple[str, str]]:
    match read:
        case bookings.BookingFields():
            return bookings.faults_of(read)
        case reminders.ReminderFields():
            return reminders.faults_of(fact_type, read)
        case _:
            return []
