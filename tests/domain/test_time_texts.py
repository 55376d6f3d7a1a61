"""Clock times, dates and local times have one spelling each."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest

from domain.time_texts import format_clock_time, format_wall, parse_clock_time, parse_date, parse_wall


@pytest.mark.parametrize(
    ("text", "clock", "told"),
    [
        ("09:00", time(9), "09:00"),
        ("9:00", time(9), "09:00"),
        ("09:00:30", time(9, 0, 30), "09:00:30"),
        ("00:00", time(0), "00:00"),
        ("23:59:59", time(23, 59, 59), "23:59:59"),
        ("14:19:59.9", time(14, 19, 59, 900_000), "14:19:59.900000"),
    ],
)
def test_a_clock_time_is_read_and_written(text: str, clock: time, told: str) -> None:
    assert parse_clock_time(text) == clock
    assert format_clock_time(clock) == told
    assert parse_clock_time(told) == clock


@pytest.mark.parametrize("text", ["", "9", "9h", "09.00", "24:00", "12:60", "09:00 ", "09:00+02:00", "٠٩:٠٠"])
def test_what_no_clock_shows_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="clock"):
        parse_clock_time(text)


def test_a_clock_time_has_no_offset() -> None:
    with pytest.raises(ValueError, match="has an offset"):
        format_clock_time(time(9, tzinfo=UTC))


def test_a_date_is_read() -> None:
    assert parse_date("2026-05-12") == date(2026, 5, 12)


@pytest.mark.parametrize("text", ["", "20260512", "2026-5-12", "2026-W20-2", "2026-02-30", "12.05.2026", "0000-01-01"])
def test_what_is_in_no_calendar_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a date|not in the calendar"):
        parse_date(text)


@pytest.mark.parametrize("text", ["2026-05-12 10:00", "2026-05-12T10:00", "2026-05-12 10:00:00"])
def test_a_local_time_is_read_and_written(text: str) -> None:
    wall = parse_wall(text)
    assert wall == datetime.combine(date(2026, 5, 12), time(10))
    assert format_wall(wall) == "2026-05-12 10:00"


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-12",
        "10:00",
        "2026-05-12T10:00Z",
        "2026-05-12 10:00+02:00",
        "2026-02-30 10:00",
        "2026-05-12 25:00",
    ],
)
def test_what_is_no_local_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"local time|calendar|clock"):
        parse_wall(text)
