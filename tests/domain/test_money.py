"""Money is exact, bounded, and knows its currency."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import BaseModel, ValidationError

from domain.currencies import DECIMALS
from domain.money import MOST_MINOR_UNITS, DifferentCurrencies, Money, Rounding


class Priced(BaseModel):
    price: Money
    deposit: Money | None = None


def eur(amount: str) -> Money:
    return Money(Decimal(amount), "EUR")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("18.50 EUR", "18.50 EUR"),
        ("18.5 EUR", "18.50 EUR"),
        ("10 EUR", "10.00 EUR"),
        ("18.500 EUR", "18.50 EUR"),
        ("-5.00 EUR", "-5.00 EUR"),
        ("-0.00 EUR", "0.00 EUR"),
        ("007 EUR", "7.00 EUR"),
        ("5000 JPY", "5000 JPY"),
        ("1.234 BHD", "1.234 BHD"),
        ("1.2345 CLF", "1.2345 CLF"),
        ("92233720368547758.07 EUR", "92233720368547758.07 EUR"),
    ],
)
def test_money_is_read_from_text_and_written_with_the_decimals_of_its_currency(written: str, told: str) -> None:
    assert str(Money.parse(written)) == told
    assert Money.parse(told) == Money.parse(written)


@pytest.mark.parametrize(
    ("written", "because"),
    [
        ("18.50", "the currency is missing"),
        ("EUR 18.50", "first the amount"),
        ("18,50 EUR", "decimals follow a point"),
        ("1'000.00 EUR", "nothing groups the digits"),
        ("1.000,00 EUR", "decimals follow a point"),
        ("18.505 EUR", "EUR has 2 decimals"),
        ("0.5 JPY", "JPY has no decimals"),
        ("1.2345 KWD", "KWD has 3 decimals"),
        ("18.50 EUX", "ISO 4217"),
        ("18.50 eur", "did you mean EUR"),
        ("1 XAU", "ISO 4217"),
        ("1e3 EUR", "is not money"),
        ("+1 EUR", "is not money"),
        (".5 EUR", "is not money"),
        ("NaN EUR", "is not money"),
        ("Infinity EUR", "is not money"),
        ("١٨ EUR", "is not money"),
        ("92233720368547758.08 EUR", "too large"),
        ("9" * 40 + " EUR", "too large"),
        pytest.param("9" * 100_000 + " EUR", "is not money", id="very long"),
        ("18.50 EUR\n", "is not money"),
        ("", "is not money"),
    ],
)
def test_what_is_not_exact_money_is_refused_with_the_reason(written: str, because: str) -> None:
    with pytest.raises(ValueError, match=because) as refused:
        Money.parse(written)
    assert len(str(refused.value)) < 250


def test_money_is_also_read_from_a_mapping() -> None:
    assert Priced.model_validate({"price": {"amount": "18.50", "currency": "EUR"}}).price == eur("18.50")


@pytest.mark.parametrize(
    "value",
    [
        {"amount": 18.5, "currency": "EUR"},
        {"amount": 1850, "currency": "EUR"},
        {"amount": "18.50"},
        {"amount": "18.50", "currency": "EUR", "vat": "19"},
        {"amount": "18.50", "currency": 978},
        {"amount": "1e2", "currency": "EUR"},
        {1: 2},
        [],
        None,
    ],
)
def test_an_odd_mapping_is_not_money(value: object) -> None:
    with pytest.raises(ValidationError):
        Priced.model_validate({"price": value})


@pytest.mark.parametrize("number", [18.5, 18, True, Decimal("18.50"), float("nan"), 2**500])
def test_a_bare_number_is_refused_and_the_message_says_what_to_write(number: object) -> None:
    with pytest.raises(ValidationError, match=r'a bare number: write it like "18\.50 EUR"'):
        Priced.model_validate({"price": number})


def test_json_has_the_text_and_reads_back() -> None:
    priced = Priced(price=eur("18.5"))
    assert priced.model_dump_json() == '{"price":"18.50 EUR","deposit":null}'
    assert priced.model_dump() == {"price": "18.50 EUR", "deposit": None}
    assert Priced.model_validate_json(priced.model_dump_json()) == priced


def test_the_json_schema_says_text() -> None:
    assert Priced.model_json_schema()["properties"]["price"] == {"title": "Price", "type": "string"}
    assert Priced.model_json_schema(mode="serialization")["properties"]["price"]["type"] == "string"


@pytest.mark.parametrize("amount", ["NaN", "sNaN", "Infinity", "-Infinity", "1E+999999", "1E-999999", "1E+21"])
def test_no_absurd_decimal_becomes_an_amount(amount: str) -> None:
    with pytest.raises(ValueError, match="EUR"):
        eur(amount)


def test_a_float_is_refused_even_in_python() -> None:
    with pytest.raises(ValueError, match="not a decimal number"):
        Money(18.5, "EUR")  # type: ignore[arg-type]


def test_trial_35_only_the_larger_amount_of_the_same_currency_is_above() -> None:
    limit = Money.parse("100 EUR")
    assert not Money.parse("100.00 EUR") > limit
    assert Money.parse("100.01 EUR") > limit
    assert not Money.sum_of(map(Money.parse, ("33.40 EUR", "33.30 EUR", "33.30 EUR")), "EUR") > limit
    for other in ("150 USD", "5000 JPY"):
        with pytest.raises(DifferentCurrencies, match="not comparable"):
            assert Money.parse(other) > limit


def test_different_currencies_neither_add_nor_subtract_and_are_never_equal() -> None:
    one, other = Money.parse("1 EUR"), Money.parse("1 USD")
    assert one != other
    for combine in (one.__add__, one.__sub__, one.__lt__, one.__le__, one.__gt__, one.__ge__):
        with pytest.raises(DifferentCurrencies) as raised:
            combine(other)
        assert (raised.value.left, raised.value.right) == (one, other)
    with pytest.raises(DifferentCurrencies):
        Money.sum_of([one, other], "EUR")
    with pytest.raises(DifferentCurrencies):
        Money.sum_of([one], "USD")


def test_money_and_numbers_do_not_mix() -> None:
    with pytest.raises(TypeError, match="not money"):
        eur("1") + 1  # type: ignore[operator]


def test_sums_differences_and_signs_are_exact() -> None:
    assert eur("0.10") + eur("0.20") == eur("0.30")
    assert eur("0.30") - eur("0.50") == -eur("0.20")
    assert eur("1") <= eur("1.00")
    assert eur("1") >= eur("1.00")
    assert Money.sum_of([], "JPY") == Money.zero("JPY") == Money.parse("0 JPY")
    assert hash(eur("1")) == hash(eur("1.00"))


def test_a_sum_that_fits_no_database_column_is_refused() -> None:
    largest = Money.from_minor_units(MOST_MINOR_UNITS, "EUR")
    with pytest.raises(ValueError, match="too large"):
        largest + eur("0.01")


@pytest.mark.parametrize(("text", "units"), [("18.50 EUR", 1850), ("-5 JPY", -5), ("1.234 TND", 1234)])
def test_minor_units_are_whole_numbers_there_and_back(text: str, units: int) -> None:
    money = Money.parse(text)
    assert money.minor_units() == units
    assert Money.from_minor_units(units, money.currency) == money


def test_minor_units_beyond_the_column_are_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        Money.from_minor_units(2**63, "EUR")


@pytest.mark.parametrize(
    ("rounding", "told"),
    [
        (Rounding.HALF_EVEN, "0.12 EUR"),
        (Rounding.HALF_UP, "0.13 EUR"),
        (Rounding.HALF_DOWN, "0.12 EUR"),
        (Rounding.UP, "0.13 EUR"),
        (Rounding.DOWN, "0.12 EUR"),
        (Rounding.CEILING, "0.13 EUR"),
        (Rounding.FLOOR, "0.12 EUR"),
    ],
)
def test_every_rounding_names_its_mode(rounding: Rounding, told: str) -> None:
    assert str(Money.rounded(Decimal("0.125"), "EUR", rounding)) == told


def test_the_table_of_currencies_holds_well_formed_codes_and_the_odd_decimals() -> None:
    assert all(len(code) == 3 and code.isalpha() and code.isupper() for code in DECIMALS)
    assert len(DECIMALS) > 165
    odd = {"JPY": 0, "KRW": 0, "ISK": 0, "XOF": 0, "BHD": 3, "TND": 3, "CLF": 4, "UYW": 4, "EUR": 2, "BGN": 2}
    assert {code: DECIMALS[code] for code in odd} == odd
