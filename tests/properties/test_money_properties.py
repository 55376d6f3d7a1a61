"""Properties of money, over all currencies."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from domain.currencies import DECIMALS
from domain.money import MOST_MINOR_UNITS, DifferentCurrencies, Money, Rounding

currencies = st.sampled_from(sorted(DECIMALS))
units = st.integers(-MOST_MINOR_UNITS, MOST_MINOR_UNITS)
moneys = st.builds(Money.from_minor_units, units, currencies)
small = st.integers(-(10**12), 10**12)
stored = TypeAdapter(Money)


@given(units, currencies)
def test_text_json_and_minor_units_all_lead_back(minor_units: int, currency: str) -> None:
    money = Money.from_minor_units(minor_units, currency)
    assert money.minor_units() == minor_units
    assert Money.parse(str(money)) == money
    assert stored.validate_json(stored.dump_json(money)) == money
    assert stored.validate_python({"amount": f"{money.amount:f}", "currency": currency}) == money
    assert -money.amount.as_tuple().exponent == DECIMALS[currency]  # type: ignore[operator]


@given(small, small, currencies)
def test_money_adds_and_orders_as_its_minor_units_do(left: int, right: int, currency: str) -> None:
    one, other = Money.from_minor_units(left, currency), Money.from_minor_units(right, currency)
    assert (one + other).minor_units() == left + right
    assert (one - other).minor_units() == left - right
    assert (-one).minor_units() == -left
    assert (one < other, one <= other, one > other, one >= other, one == other) == (
        left < right,
        left <= right,
        left > right,
        left >= right,
        left == right,
    )


@given(moneys, moneys)
def test_nothing_is_compared_across_currencies(one: Money, other: Money) -> None:
    if one.currency == other.currency:
        return
    assert one != other
    for combine in (one.__lt__, one.__add__, one.__sub__):
        with pytest.raises(DifferentCurrencies):
            combine(other)


@given(st.decimals(allow_nan=True, allow_infinity=True), currencies)
def test_any_decimal_becomes_exactly_that_amount_or_is_refused(amount: Decimal, currency: str) -> None:
    try:
        money = Money(amount, currency)
    except ValueError:
        return
    assert money.amount == amount


@given(
    st.decimals(-(10**12), 10**12, places=9),
    currencies,
    st.sampled_from(Rounding),
)
def test_rounding_moves_an_amount_by_less_than_a_minor_unit(amount: Decimal, currency: str, rounding: Rounding) -> None:
    moved = abs(Money.rounded(amount, currency, rounding).amount - amount)
    assert moved < Decimal(1).scaleb(-DECIMALS[currency])


@given(st.text() | st.floats() | st.integers() | st.booleans() | st.none() | st.lists(st.text()))
def test_no_other_value_becomes_money_by_accident(value: object) -> None:
    try:
        money = Money.read(value)
    except ValueError:
        return
    assert isinstance(value, str)
    assert Money.parse(value.strip()) == money
