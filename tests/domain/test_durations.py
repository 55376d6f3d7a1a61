"""Amounts of time as people write them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.durations import Kind, format_duration, parse_duration, parse_quantity


@pytest.mark.parametrize(
    ("text", "kind", "amount", "told"),
    [
        ("24 hours", Kind.SECONDS, 86_400, "24 hours"),
        ("1 hour", Kind.SECONDS, 3_600, "1 hour"),
        ("1 hours", Kind.SECONDS, 3_600, "1 hour"),
        ("15 Minutes", Kind.SECONDS, 900, "15 minutes"),
        ("90 minutes", Kind.SECONDS, 5_400, "90 minutes"),
        ("1 hour 30 minutes", Kind.SECONDS, 5_400, "90 minutes"),
        ("0 days", Kind.DAYS, 0, "0 days"),
        ("14 days", Kind.DAYS, 14, "14 days"),
        ("2 weeks", Kind.DAYS, 14, "2 weeks"),
        ("1 week 2 days", Kind.DAYS, 9, "9 days"),
        ("1 month", Kind.MONTHS, 1, "1 month"),
        ("1 year", Kind.MONTHS, 12, "1 year"),
    ],
)
def test_a_quantity_keeps_the_unit_that_it_was_written_in(text: str, kind: Kind, amount: int, told: str) -> None:
    quantity = parse_quantity(text)
    assert (quantity.kind, quantity.amount, str(quantity)) == (kind, amount, told)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "not an amount of time"),
        ("soon", "not an amount of time"),
        ("15", "not an amount of time"),
        ("-1 days", "not an amount of time"),
        ("1.5 hours", "not an amount of time"),
        ("1 day and 2 days", "not a unit|not an amount"),
        ("15 min", "not a unit of time"),
        ("2 huors", "did you mean hours"),
        ("1 day 2 hours", "mixes"),
        ("1 month 2 days", "mixes"),
        ("101 years", "more than a hundred years"),
        ("999999999999 weeks", "more than a hundred years"),
        ("9" * 50 + " days", "not an amount of time"),
        pytest.param("1 day " * 10_000, "not an amount of time", id="very many"),
        pytest.param(" " * 100_000, "not an amount of time", id="very long"),
    ],
)
def test_what_is_no_quantity_is_refused_with_the_reason(text: str, because: str) -> None:
    with pytest.raises(ValueError, match=because):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("text", "duration", "told"),
    [
        ("30 minutes", timedelta(minutes=30), "30 minutes"),
        ("90 minutes", timedelta(minutes=90), "90 minutes"),
        ("120 minutes", timedelta(hours=2), "2 hours"),
        ("36 hours", timedelta(hours=36), "36 hours"),
        ("14 days", timedelta(days=14), "14 days"),
        ("2 weeks", timedelta(days=14), "14 days"),
        ("45 seconds", timedelta(seconds=45), "45 seconds"),
        ("0.25 seconds", timedelta(milliseconds=250), "0.25 seconds"),
        ("0 hours", timedelta(0), "0 minutes"),
    ],
)
def test_a_duration_is_read_and_written(text: str, duration: timedelta, told: str) -> None:
    assert parse_duration(text) == duration
    assert format_duration(duration) == told


def test_a_month_is_no_duration() -> None:
    with pytest.raises(ValueError, match="no fixed length"):
        parse_duration("1 month")


def test_a_negative_duration_can_be_shown() -> None:
    assert format_duration(timedelta(minutes=-90)) == "-90 minutes"
