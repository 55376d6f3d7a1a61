"""A rule's value made ready for comparison: checked against the fact's type when the rule is saved."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from automations import fact_reading
from automations.fact_reading import Read
from automations.registry import nearest
from automations.value_types import KnownFact, ValueType
from automations.written_values import (
    clock_in,
    date_in,
    duration_in,
    money_in,
    number_in,
    timely_in,
    yes_no_in,
)
from domain.condition_tree import Scalar
from domain.money import Money
from domain.text_values import shown


@dataclass(frozen=True, slots=True)
class Literal:
    """A rule's value as what it means, with how facts are read for it.

    `form` names what it turned out to be, since an instant may be compared with a date or a clock time.
    `guessed` is the text itself where only its looks said what it is.
    """

    value: object
    read: Read
    form: str
    guessed: str | None = None


def literal_of(fact: KnownFact, value: Scalar) -> Literal:
    """Return the rule's value for comparing with this fact; `ValueError` says what to write instead."""
    return _FITTED[fact.type](fact, value)


def text_of(value: Scalar) -> str:
    """Return a rule's value as text, in its composed Unicode form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return unicodedata.normalize("NFC", str(value))


def _unfit(fact: KnownFact, value: Scalar, instead: str) -> ValueError:
    return ValueError(f"{fact.path} is {fact.article}, and {shown(value)} is not: write {instead}")


def _fit_text(fact: KnownFact, value: Scalar) -> Literal:
    text = text_of(value)
    if isinstance(value, float):
        raise ValueError(f"{fact.path} is {fact.article}: write {text} in quotes, with all its digits")
    if fact.choices and text not in fact.choices:
        raise ValueError(f"{fact.path} never has the value {shown(text)}{nearest(text, fact.choices)}")
    return Literal(text, fact_reading.text, "text")


def _fit_number(fact: KnownFact, value: Scalar) -> Literal:
    number = _number(value)
    if number is None:
        raise _unfit(fact, value, "a number, like 10")
    return Literal(number, fact_reading.number, "number")


def _number(value: Scalar) -> Decimal | int | None:
    match value:
        case bool():
            return None
        case float():
            return Decimal(repr(value))
        case str():
            return number_in(value)
    return value


def _fit_money(fact: KnownFact, value: Scalar) -> Literal:
    if not isinstance(value, str) or number_in(value) is not None:
        raise ValueError(f"{fact.path} is an amount of money, and {shown(value)} has no currency: write 100 EUR")
    return _of_money(Money.parse(value))


def _of_money(money: Money, guessed: str | None = None) -> Literal:
    return Literal(money.amount, fact_reading.amount_in(money.currency), f"amount in {money.currency}", guessed)


def _fit_instant(fact: KnownFact, value: Scalar) -> Literal:
    found = _of_time(value)
    if found is None:
        raise _unfit(fact, value, "a date like 2026-05-12, a time like 09:00, or both")
    return found


def _of_time(value: Scalar, guessed: str | None = None) -> Literal | None:
    match timely_in(value) if isinstance(value, str) else None:
        case datetime(tzinfo=None) as wall:
            return Literal(wall, fact_reading.wall, "local time", guessed)
        case datetime() as instant:
            return Literal(instant.astimezone(UTC), fact_reading.instant, "instant", guessed)
        case date() as day:
            return Literal(day, fact_reading.day, "date", guessed)
        case time() as clock:
            return Literal(clock, fact_reading.clock, "clock time", guessed)
    return None


@dataclass(frozen=True, slots=True)
class _Form:
    """A form that values of one type have: how it is read in a rule and in facts, and an example."""

    parse: Callable[[Any], object | None]
    read: Read
    example: str


_FORMS = {
    ValueType.DATE: _Form(date_in, fact_reading.day, "a date, like 2026-05-12"),
    ValueType.CLOCK: _Form(clock_in, fact_reading.clock, "a time, like 09:00"),
    ValueType.DURATION: _Form(duration_in, fact_reading.duration, "a duration, like 2 hours"),
    ValueType.YES_NO: _Form(yes_no_in, fact_reading.yes_or_no, "yes or no"),
}


def _fit_form(fact: KnownFact, value: Scalar) -> Literal:
    form = _FORMS[fact.type]
    found = form.parse(value) if isinstance(value, (str, bool)) else None
    if found is None:
        raise _unfit(fact, value, form.example)
    return Literal(found, form.read, fact.type)


def _fit_anything(fact: KnownFact, value: Scalar) -> Literal:
    if isinstance(value, bool):
        return Literal(value, fact_reading.yes_or_no, "yes/no")
    if not isinstance(value, str):
        return _fit_number(fact, value)
    text = text_of(value)
    money = money_in(text)
    if money is not None:
        return _of_money(money, guessed=text)
    duration = duration_in(text)
    if duration is not None:
        return Literal(duration, fact_reading.duration, "duration", text)
    return _of_time(text, guessed=text) or Literal(text, fact_reading.text, "text", text)


_FITTED: dict[ValueType, Callable[[KnownFact, Scalar], Literal]] = {
    ValueType.TEXT: _fit_text,
    ValueType.TEXTS: _fit_text,
    ValueType.CHOICE: _fit_text,
    ValueType.NUMBER: _fit_number,
    ValueType.MONEY: _fit_money,
    ValueType.INSTANT: _fit_instant,
    ValueType.DATE: _fit_form,
    ValueType.CLOCK: _fit_form,
    ValueType.DURATION: _fit_form,
    ValueType.YES_NO: _fit_form,
    ValueType.ANY: _fit_anything,
}
