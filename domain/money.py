"""Money: an exact amount in one currency.

It is written `18.50 EUR`, or in JSON also `{"amount": "18.50", "currency": "EUR"}`; databases keep whole
minor units. Amounts that are not exact at the minor unit are refused, and every rounding names its mode.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema

from domain.currencies import decimals_of
from domain.text_values import shown, text_schema

MOST_MINOR_UNITS = 2**63 - 1
"""What a signed 64-bit integer holds; the same below zero."""

_REMEDY = 'write it like "18.50 EUR"'
_TEXT = re.compile(r"(-?[0-9]{1,40}(?:\.[0-9]{1,40})?) +([A-Za-z]{3})")
_AMOUNT = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")

# An own context, so that nobody's ambient precision or traps change what an amount is.
_EXACT = decimal.Context(prec=60, traps=[decimal.Inexact, decimal.InvalidOperation])
_ROUNDING = decimal.Context(prec=60, traps=[decimal.InvalidOperation])
_QUANTA = tuple(Decimal((0, (1,), -decimals)) for decimals in range(5))
_ZEROS = tuple(Decimal((0, (0,), -decimals)) for decimals in range(5))


class Rounding(StrEnum):
    """How an amount between two minor units becomes one of them."""

    HALF_EVEN = decimal.ROUND_HALF_EVEN
    HALF_UP = decimal.ROUND_HALF_UP
    HALF_DOWN = decimal.ROUND_HALF_DOWN
    UP = decimal.ROUND_UP
    DOWN = decimal.ROUND_DOWN
    CEILING = decimal.ROUND_CEILING
    FLOOR = decimal.ROUND_FLOOR


class DifferentCurrencies(ValueError):
    """Two amounts of different currencies cannot be added or compared: there is no rate here."""

    def __init__(self, left: Money, right: Money) -> None:
        self.left, self.right = left, right
        super().__init__(f"{left} and {right} are not comparable: their currencies differ")


@dataclass(frozen=True, slots=True)
class Money:
    """An amount, exact at the minor unit of its ISO 4217 currency.

    `amount` always has the currency's number of decimals. Refused with a ValueError are floats, NaN and
    infinities, finer fractions, and what does not fit a signed 64-bit integer of minor units. Equality
    takes the currency into account; order, sums and differences across currencies raise
    `DifferentCurrencies`.
    """

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", _exact(self.amount, self.currency))

    @classmethod
    def parse(cls, text: str) -> Money:
        """Return the money that a text such as `18.50 EUR` says."""
        match = _TEXT.fullmatch(text.strip(" "))
        if match is None:
            raise ValueError(f"{shown(text)} is not money: {_fault_of(text)}")
        return cls(Decimal(match[1]), match[2])

    @classmethod
    def read(cls, value: object) -> Money:
        """Return money from its text or its mapping; a bare number is refused, whatever its type."""
        if isinstance(value, Money):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, Mapping):
            return _of_mapping(value)
        what = "a bare number" if isinstance(value, int | float | Decimal) else "not money"
        raise ValueError(f"{shown(value)} is {what}: {_REMEDY}")

    @classmethod
    def zero(cls, currency: str) -> Money:
        """Return nothing of a currency."""
        return cls(Decimal(0), currency)

    @classmethod
    def from_minor_units(cls, minor_units: int, currency: str) -> Money:
        """Return the money of a whole number of minor units: 1850 of EUR is 18.50 EUR."""
        if not -MOST_MINOR_UNITS <= minor_units <= MOST_MINOR_UNITS:
            raise ValueError(f"{shown(minor_units)} minor units are too large an amount")
        return cls(Decimal(minor_units).scaleb(-decimals_of(currency), _EXACT), currency)

    @classmethod
    def rounded(cls, amount: Decimal, currency: str, rounding: Rounding) -> Money:
        """Return the money nearest to an amount of any precision, by the rounding that is named."""
        _refuse_absurd(amount, currency)
        quantum = _QUANTA[decimals_of(currency)]
        return cls(amount.quantize(quantum, rounding=rounding.value, context=_ROUNDING), currency)

    @classmethod
    def sum_of(cls, parts: Iterable[Money], currency: str) -> Money:
        """Return the sum of amounts that are all in this currency."""
        total = cls.zero(currency)
        for part in parts:
            total += part
        return total

    def minor_units(self) -> int:
        """Return the whole number of minor units: 18.50 EUR is 1850."""
        return int(self.amount.scaleb(decimals_of(self.currency), _EXACT))

    def __add__(self, other: Money) -> Money:
        return Money(_EXACT.add(self.amount, self._amount_of(other)), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(_EXACT.subtract(self.amount, self._amount_of(other)), self.currency)

    def __neg__(self) -> Money:
        return Money(self.amount.copy_negate(), self.currency)

    def __lt__(self, other: Money) -> bool:
        return self.amount < self._amount_of(other)

    def __le__(self, other: Money) -> bool:
        return self.amount <= self._amount_of(other)

    def __gt__(self, other: Money) -> bool:
        return self.amount > self._amount_of(other)

    def __ge__(self, other: Money) -> bool:
        return self.amount >= self._amount_of(other)

    def __str__(self) -> str:
        return f"{self.amount:f} {self.currency}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return text_schema(cls.read)

    def _amount_of(self, other: Money) -> Decimal:
        if not isinstance(other, Money):
            raise TypeError(f"{shown(other)} is not money: {_REMEDY}")
        if other.currency != self.currency:
            raise DifferentCurrencies(self, other)
        return other.amount


def _exact(amount: Decimal, currency: str) -> Decimal:
    decimals = decimals_of(currency)
    _refuse_absurd(amount, currency)
    try:
        exact = amount.quantize(_QUANTA[decimals], context=_EXACT)
    except decimal.Inexact:
        places = f"{decimals} decimals" if decimals else "no decimals"
        raise ValueError(f"{amount!s:.40} {currency} is not exact: {currency} has {places}") from None
    if abs(exact.scaleb(decimals, _EXACT)) > MOST_MINOR_UNITS:
        raise ValueError(f"{amount!s:.40} {currency} is too large an amount")
    return exact or _ZEROS[decimals]


def _refuse_absurd(amount: object, currency: str) -> None:
    # Before any arithmetic: a huge exponent would make it slow, and NaN makes it meaningless.
    if not isinstance(amount, Decimal):
        raise ValueError(f"the amount {shown(amount)} is not a decimal number: {_REMEDY}")
    if not amount.is_finite():
        raise ValueError(f"{amount!s:.40} {currency} is not an amount")
    if amount and amount.adjusted() > 20:
        raise ValueError(f"{amount!s:.40} {currency} is too large an amount")


def _of_mapping(value: Mapping[Any, Any]) -> Money:
    if set(value) != {"amount", "currency"}:
        raise ValueError(f"{shown(dict(value))} is not money: it has exactly an amount and a currency")
    amount, currency = value["amount"], value["currency"]
    if not isinstance(amount, str) or not _AMOUNT.fullmatch(amount):
        # A number could have been a float on its way, or be meant in cents.
        raise ValueError(f'the amount {shown(amount)} has to be text with a decimal point, like "18.50"')
    if not isinstance(currency, str):
        raise ValueError(f'the currency {shown(currency)} has to be text, like "EUR"')
    return Money(Decimal(amount), currency)


def _fault_of(text: str) -> str:
    if _AMOUNT.fullmatch(text.strip()):
        return f"the currency is missing, {_REMEDY}"
    if "," in text or "'" in text:
        return f"decimals follow a point and nothing groups the digits, {_REMEDY}"
    return f"first the amount, then the currency, {_REMEDY}"
