"""Elapsed time and steps of the calendar, before and after instants and dates."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from pydantic import BaseModel, ValidationError

from domain.civil_time import instant_of, zone
from domain.offsets import Offset
from domain.time_texts import parse_date, parse_wall

BERLIN = zone("Europe/Berlin")


def utc(text: str) -> datetime:
    return parse_wall(text).replace(tzinfo=UTC)


def local(text: str) -> datetime:
    return instant_of(parse_wall(text), BERLIN)


class Timed(BaseModel):
    before: Offset


@pytest.mark.parametrize(
    "text",
    [
        "24 hours",
        "15 minutes",
        "0 days",
        "3 days at 09:00",
        "2 weeks",
        "1 month",
        "1 day at 09:00:30",
        "1 year",
    ],
)
def test_an_offset_is_written_as_it_was_read(text: str) -> None:
    timed = Timed.model_validate({"before": text})
    assert str(timed.before) == text
    assert timed.model_dump_json() == f'{{"before":"{text}"}}'
    assert Timed.model_validate_json(timed.model_dump_json()) == timed


def test_a_clock_time_may_have_one_digit() -> None:
    assert str(Offset.parse("1 day at 9:00")) == "1 day at 09:00"


def test_offsets_that_count_the_same_are_equal_and_elapsed_time_is_never_a_day() -> None:
    assert Offset.parse("7 days") == Offset.parse("1 week")
    assert hash(Offset.parse("60 minutes")) == hash(Offset.parse("1 hour"))
    assert Offset.parse("24 hours") != Offset.parse("1 day")
    assert Offset.parse("1 day") != Offset.parse("1 day at 09:00")


@pytest.mark.parametrize(
    ("value", "because"),
    [
        ("24 hours at 09:00", "goes with days"),
        ("1 day at noon", "clock time"),
        ("1 day at 25:00", "clock"),
        ("3 days 09:00", "not an amount of time"),
        ("tomorrow", "not an amount of time"),
        pytest.param("1 day " + " " * 100_000 + "at 09:00", "not an amount of time", id="very long"),
        (15, "write it like"),
        (None, "write it like"),
    ],
)
def test_what_is_no_offset_is_refused_with_the_reason(value: object, because: str) -> None:
    with pytest.raises(ValidationError, match=because):
        Timed.model_validate({"before": value})


@pytest.mark.parametrize(("offset", "due"), [("24 hours", "2026-03-28 08:00"), ("1 day", "2026-03-28 09:00")])
def test_trial_17_24_hours_are_elapsed_and_1_day_is_the_same_clock_time(offset: str, due: str) -> None:
    assert Offset.parse(offset).before(local("2026-03-29 10:00"), BERLIN) == utc(due)


@pytest.mark.parametrize(("day", "due"), [("2026-10-18", "2026-10-17 07:00"), ("2026-10-25", "2026-10-24 07:00")])
def test_trial_14_an_all_day_booking_is_reminded_at_the_clock_time_of_its_space(day: str, due: str) -> None:
    assert Offset.parse("1 day at 09:00").before(parse_date(day), BERLIN) == utc(due)


def test_trial_14_after_the_end_of_an_all_day_booking_is_after_its_last_day() -> None:
    last_day = parse_date("2026-10-25")
    assert Offset.parse("0 minutes").after(last_day, BERLIN) == utc("2026-10-25 23:00")
    assert Offset.parse("30 minutes").after(last_day, BERLIN) == utc("2026-10-25 23:30")


@pytest.mark.parametrize(
    ("offset", "due"),
    [
        ("0 days", "2026-04-02 00:00"),
        ("1 day", "2026-04-03 00:00"),
        ("3 days at 09:00", "2026-04-04 09:00"),
        ("1 day at 09:00", "2026-04-02 09:00"),
        ("0 days at 09:00", "2026-04-02 00:00"),
        ("12 hours", "2026-04-02 12:00"),
        ("1 week", "2026-04-09 00:00"),
        ("1 month at 08:00", "2026-05-01 08:00"),
    ],
)
def test_trial_31_an_invoice_is_overdue_when_its_due_day_has_ended(offset: str, due: str) -> None:
    assert Offset.parse(offset).after(parse_date("2026-04-01"), BERLIN) == local(due)


@pytest.mark.parametrize(
    ("offset", "due"),
    [
        ("0 days", "2026-04-01 00:00"),
        ("7 days", "2026-03-25 00:00"),
        ("7 days at 09:00", "2026-03-25 09:00"),
        ("24 hours", "2026-03-31 00:00"),
        ("1 month", "2026-03-01 00:00"),
    ],
)
def test_before_a_date_counts_from_its_first_instant(offset: str, due: str) -> None:
    assert Offset.parse(offset).before(parse_date("2026-04-01"), BERLIN) == local(due)


def test_trial_45_on_the_expiry_day_at_8_is_0_days_before_it_at_8() -> None:
    assert Offset.parse("0 days at 08:00").before(parse_date("2026-04-01"), BERLIN) == local("2026-04-01 08:00")


@pytest.mark.parametrize(
    ("offset", "start", "due"),
    [
        ("2 hours", "2026-05-12 10:00", "2026-05-12 06:00"),
        ("3 days at 09:00", "2026-05-12 10:00", "2026-05-09 07:00"),
        ("0 days at 07:00", "2026-05-12 10:00", "2026-05-12 05:00"),
        # The day before, 02:30 exists; on the day of the change it is 03:30; twice, it is the first.
        ("1 day", "2026-03-30 02:30", "2026-03-29 01:30"),
        ("1 day", "2026-10-26 02:30", "2026-10-25 00:30"),
        ("1 month", "2026-03-31 10:00", "2026-02-28 09:00"),
        ("1 month", "2026-07-31 10:00", "2026-06-30 08:00"),
        ("1 year", "2024-02-29 10:00", "2023-02-28 09:00"),
    ],
)
def test_before_an_instant(offset: str, start: str, due: str) -> None:
    assert Offset.parse(offset).before(local(start), BERLIN) == utc(due)


@pytest.mark.parametrize(
    ("offset", "end", "due"),
    [
        ("30 minutes", "2026-05-12 12:00", "2026-05-12 10:30"),
        ("1 day", "2026-03-28 02:30", "2026-03-29 01:30"),
        ("24 hours", "2026-03-28 10:00", "2026-03-29 09:00"),
        ("1 day at 09:00", "2026-05-12 12:00", "2026-05-13 07:00"),
        ("1 month", "2026-01-31 10:00", "2026-02-28 09:00"),
        ("1 year", "2024-02-29 10:00", "2025-02-28 09:00"),
        ("12 months", "2023-02-28 10:00", "2024-02-28 09:00"),
    ],
)
def test_after_an_instant(offset: str, end: str, due: str) -> None:
    assert Offset.parse(offset).after(local(end), BERLIN) == utc(due)


def test_a_clock_time_never_leads_to_the_other_side_of_an_instant() -> None:
    noon = local("2026-05-12 12:00")
    assert Offset.parse("0 days at 18:00").before(noon, BERLIN) == noon
    assert Offset.parse("0 days at 09:00").after(noon, BERLIN) == noon


def test_no_steps_at_all_stay_in_the_second_of_two_equal_hours() -> None:
    second = utc("2026-10-25 01:30")
    assert Offset.parse("0 days").after(second, BERLIN) == second
    assert Offset.parse("0 days").before(second, BERLIN) == second


def test_steps_around_a_skipped_date() -> None:
    apia = zone("Pacific/Apia")
    assert Offset.parse("1 day").after(parse_date("2011-12-29"), apia) == utc("2011-12-30 10:00")
    assert Offset.parse("1 day at 09:00").before(parse_date("2011-12-31"), apia) == utc("2011-12-30 19:00")


def test_a_due_date_is_some_days_after_another_date() -> None:
    assert Offset.parse("14 days").day_after(date(2026, 2, 20)) == date(2026, 3, 6)
    assert Offset.parse("1 month").day_after(date(2026, 1, 31)) == date(2026, 2, 28)
    assert Offset.parse("1 year").day_before(date(2024, 2, 29)) == date(2023, 2, 28)
    with pytest.raises(ValueError, match="elapsed time"):
        Offset.parse("24 hours").day_after(date(2026, 1, 31))


def test_an_instant_without_an_offset_is_refused() -> None:
    for text in ("1 hour", "1 day", "0 days"):
        with pytest.raises(ValueError, match="offset"):
            Offset.parse(text).before(parse_wall("2026-05-12 10:00"), BERLIN)


@pytest.mark.parametrize("text", ["100 years", "1200 months", "36525 days", "876600 hours"])
def test_what_leads_out_of_the_calendar_is_refused_and_breaks_nothing(text: str) -> None:
    offset = Offset.parse(text)
    for moment in (utc("0001-01-02 00:00"), date(1, 1, 2)):
        with pytest.raises(ValueError, match="calendar"):
            offset.before(moment, BERLIN)
    for moment in (utc("9999-12-30 00:00"), date(9999, 12, 30)):
        with pytest.raises(ValueError, match="calendar"):
            offset.after(moment, BERLIN)
