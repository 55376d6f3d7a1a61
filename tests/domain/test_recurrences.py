"""What comes round, on the wall clock and across the changes of it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from itertools import islice

import pytest

from domain.civil_time import instant_of, zone
from domain.recurrences import Occurrence, Recurrence
from domain.time_texts import format_wall, parse_clock_time, parse_date, parse_wall

BERLIN = zone("Europe/Berlin")


def utc(text: str) -> datetime:
    return parse_wall(text).replace(tzinfo=UTC)


def dates(text: str, starts_on: str, count: int) -> list[str]:
    recurrence = Recurrence.parse(text, parse_date(starts_on))
    return [wall.date().isoformat() for wall in islice(recurrence.occurrences(), count)]


def instants(text: str, starts_on: str, at: str, after: str, until: str) -> list[Occurrence]:
    recurrence = Recurrence.parse(text, parse_date(starts_on), parse_clock_time(at))
    from_there = recurrence.instants_after(utc(after), BERLIN)
    return [found for found in islice(from_there, 20) if found.instant <= utc(until)]


def test_trial_15_a_missing_clock_time_occurs_once_on_its_date_an_hour_later() -> None:
    found = instants("FREQ=DAILY", "2026-03-01", "02:30", "2026-03-28 11:00", "2026-03-30 10:00")
    assert found == [
        Occurrence(parse_wall("2026-03-29 02:30"), utc("2026-03-29 01:30")),
        Occurrence(parse_wall("2026-03-30 02:30"), utc("2026-03-30 00:30")),
    ]


def test_trial_15_an_occurrence_in_the_gap_is_not_lost_by_looking_from_just_after_the_gap() -> None:
    # At 01:10 in UTC the clock shows 03:10, which is later than 02:30 and yet before it.
    (first, *_) = instants("FREQ=DAILY", "2026-03-01", "02:30", "2026-03-29 01:10", "2026-03-29 23:00")
    assert first.instant == utc("2026-03-29 01:30")
    (first, *_) = instants("FREQ=DAILY", "2026-03-01", "02:30", "2026-03-29 01:30", "2026-03-30 23:00")
    assert first.instant == utc("2026-03-30 00:30")


def test_a_doubled_clock_time_occurs_once() -> None:
    found = instants("FREQ=DAILY", "2026-10-01", "02:30", "2026-10-24 12:00", "2026-10-26 12:00")
    assert [each.instant for each in found] == [utc("2026-10-25 00:30"), utc("2026-10-26 01:30")]


def test_trial_18_seven_o_clock_stays_seven_o_clock_through_the_change() -> None:
    found = instants("FREQ=DAILY", "2026-01-01", "07:00", "2026-03-27 12:00", "2026-03-30 12:00")
    assert [each.instant for each in found] == [
        utc("2026-03-28 06:00"),
        utc("2026-03-29 05:00"),
        utc("2026-03-30 05:00"),
    ]


@pytest.mark.parametrize("text", ["FREQ=MONTHLY", "FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=MONTHLY;BYMONTHDAY=-1"])
def test_trial_22_the_31st_falls_on_the_last_day_of_a_shorter_month_and_returns(text: str) -> None:
    assert dates(text, "2026-01-31", 6) == [
        "2026-01-31",
        "2026-02-28",
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
        "2026-06-30",
    ]


@pytest.mark.parametrize(
    ("text", "starts_on", "found"),
    [
        ("FREQ=MONTHLY;SKIP=OMIT", "2026-01-31", ["2026-01-31", "2026-03-31", "2026-05-31"]),
        ("FREQ=MONTHLY;SKIP=FORWARD", "2026-01-31", ["2026-01-31", "2026-03-01", "2026-03-31", "2026-05-01"]),
        ("FREQ=YEARLY", "2024-02-29", ["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]),
        ("FREQ=YEARLY;SKIP=OMIT", "2024-02-29", ["2024-02-29", "2028-02-29"]),
        ("FREQ=YEARLY;SKIP=FORWARD", "2024-02-29", ["2024-02-29", "2025-03-01", "2026-03-01"]),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "2026-01-01", ["2026-02-28", "2027-02-28", "2028-02-29"]),
        # No date twice, though three days of February fall on its last one.
        ("FREQ=MONTHLY;BYMONTHDAY=29,30,31", "2026-02-01", ["2026-02-28", "2026-03-29", "2026-03-30"]),
        (
            "FREQ=MONTHLY;BYMONTHDAY=1,31;SKIP=FORWARD",
            "2026-02-01",
            ["2026-02-01", "2026-03-01", "2026-03-31"],
        ),
        # Counted from the end: February has no 31st day before its last.
        (
            "FREQ=MONTHLY;BYMONTHDAY=-31",
            "2026-01-01",
            ["2026-01-01", "2026-01-31", "2026-03-01", "2026-03-31"],
        ),
        (
            "FREQ=MONTHLY;BYMONTHDAY=-31;SKIP=FORWARD",
            "2026-01-01",
            ["2026-01-01", "2026-02-01", "2026-03-01"],
        ),
        # What limits, limits the day that was moved to.
        ("FREQ=MONTHLY;BYMONTHDAY=31;BYDAY=SA", "2026-01-01", ["2026-01-31", "2026-02-28", "2026-10-31"]),
        (
            "FREQ=MONTHLY;BYMONTHDAY=15,31;BYSETPOS=2",
            "2026-01-01",
            ["2026-01-31", "2026-02-28", "2026-03-31"],
        ),
        ("FREQ=MONTHLY;INTERVAL=13;BYMONTHDAY=31", "2026-01-01", ["2026-01-31", "2027-02-28", "2028-03-31"]),
    ],
)
def test_a_day_that_a_month_lacks(text: str, starts_on: str, found: list[str]) -> None:
    assert dates(text, starts_on, len(found)) == found


@pytest.mark.parametrize(
    ("text", "starts_on", "found"),
    [
        ("FREQ=WEEKLY", "2026-08-08", ["2026-08-08", "2026-08-15"]),
        ("FREQ=WEEKLY;BYDAY=MO", "2026-08-08", ["2026-08-10", "2026-08-17"]),
        (
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO",
            "1997-08-05",
            ["1997-08-05", "1997-08-10", "1997-08-19"],
        ),
        (
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU",
            "1997-08-05",
            ["1997-08-05", "1997-08-17", "1997-08-19"],
        ),
        ("FREQ=DAILY;INTERVAL=10", "2026-01-01", ["2026-01-01", "2026-01-11"]),
        ("FREQ=DAILY;BYMONTH=1;BYDAY=MO", "2026-02-01", ["2027-01-04", "2027-01-11"]),
        ("FREQ=DAILY;BYMONTHDAY=31,-30", "2026-01-01", ["2026-01-02", "2026-01-31", "2026-03-02"]),
        ("FREQ=MONTHLY;BYDAY=1SA,-1FR", "2026-01-01", ["2026-01-03", "2026-01-30", "2026-02-07"]),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "2026-01-01", ["2026-02-13", "2026-03-13", "2026-11-13"]),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "2026-01-01", ["2026-01-30", "2026-02-27"]),
        ("FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "2026-01-01", ["2026-03-29", "2027-03-28"]),
        ("FREQ=YEARLY;BYDAY=20MO", "1997-05-19", ["1997-05-19", "1998-05-18", "1999-05-17"]),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12", ["1997-05-12", "1998-05-11", "1999-05-17"]),
        ("FREQ=YEARLY;BYWEEKNO=20", "1997-05-12", ["1997-05-12", "1998-05-11", "1999-05-17"]),
        ("FREQ=YEARLY;BYYEARDAY=1,-1", "2026-01-02", ["2026-12-31", "2027-01-01", "2027-12-31"]),
        ("FREQ=YEARLY;BYMONTH=6,7", "1997-06-10", ["1997-06-10", "1997-07-10", "1998-06-10"]),
        ("FREQ=YEARLY;BYMONTHDAY=15", "2026-01-01", ["2026-01-15", "2026-02-15"]),
        (
            "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU;SKIP=OMIT",
            "2070-01-01",
            ["2088-02-29"],
        ),
    ],
)
def test_the_rules_of_rfc_5545(text: str, starts_on: str, found: list[str]) -> None:
    assert dates(text, starts_on, len(found)) == found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("FREQ=WEEKLY;COUNT=8", 8),
        ("FREQ=DAILY;UNTIL=20260105", 5),
        ("FREQ=DAILY;UNTIL=20260105T090000", 5),
        ("FREQ=DAILY;UNTIL=20260105T085959", 4),
        # In UTC, one hour behind the wall clock of Berlin in winter.
        ("FREQ=DAILY;UNTIL=20260105T080000Z", 5),
        ("FREQ=DAILY;UNTIL=20260105T075959Z", 4),
    ],
)
def test_a_rule_ends_by_count_or_until(text: str, count: int) -> None:
    recurrence = Recurrence.parse(text, date(2026, 1, 1), time(9), BERLIN)
    walls = list(recurrence.occurrences())
    assert len(walls) == count
    assert recurrence.next_after(walls[-1]) is None
    assert recurrence.next_after(walls[-2]) == walls[-1]


def test_a_count_counts_from_the_start_wherever_one_looks() -> None:
    recurrence = Recurrence.parse("FREQ=MONTHLY;COUNT=3", date(2026, 1, 31))
    assert [format_wall(wall) for wall in recurrence.occurrences_after(date(2026, 2, 1))] == [
        "2026-02-28 00:00",
        "2026-03-31 00:00",
    ]


def test_an_until_in_utc_needs_a_zone() -> None:
    with pytest.raises(ValueError, match="in which zone"):
        Recurrence.parse("FREQ=DAILY;UNTIL=20260105T080000Z", date(2026, 1, 1))


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;SKIP=OMIT",
        "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30;SKIP=OMIT",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=7;BYDAY=TU",
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2",
        "FREQ=MONTHLY;INTERVAL=12;BYMONTH=3",
        "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=6",
    ],
)
def test_a_rule_that_never_occurs_is_refused_and_the_search_ends(text: str) -> None:
    with pytest.raises(ValueError, match="never occurs from 1990-01-01 on"):
        Recurrence.parse(text, date(1990, 1, 1))


def test_a_rule_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ValueError, match="ends before its first occurrence, 2026-01-05"):
        Recurrence.parse("FREQ=WEEKLY;BYDAY=MO;UNTIL=20260104", date(2026, 1, 1))


def test_looking_from_a_wall_time_or_from_a_whole_date() -> None:
    weekly = Recurrence.parse("FREQ=WEEKLY", date(2026, 8, 8), time(12))
    assert weekly.next_after(date(2026, 8, 7)) == parse_wall("2026-08-08 12:00")
    assert weekly.next_after(date(2026, 8, 8)) == parse_wall("2026-08-15 12:00")
    assert weekly.next_after(parse_wall("2026-08-08 11:59")) == parse_wall("2026-08-08 12:00")
    assert weekly.next_after(parse_wall("2026-08-08 12:00")) == parse_wall("2026-08-15 12:00")
    assert weekly.next_after(date(1990, 1, 1)) == parse_wall("2026-08-08 12:00")
    with pytest.raises(ValueError, match="not a wall time"):
        weekly.next_after(utc("2026-08-08 12:00"))


def test_a_window_leaves_out_its_start_and_holds_its_end() -> None:
    weekly = Recurrence.parse("FREQ=WEEKLY", date(2026, 8, 8), time(12))
    window = weekly.between(parse_wall("2026-08-08 12:00"), parse_wall("2026-08-22 12:00"))
    assert [format_wall(wall) for wall in window] == ["2026-08-15 12:00", "2026-08-22 12:00"]
    assert len(list(weekly.between(date(2026, 8, 8), date(2026, 8, 22)))) == 2


def test_a_reminder_begun_long_ago_keeps_its_rhythm() -> None:
    fortnightly = Recurrence.parse("FREQ=WEEKLY;INTERVAL=2", date(1990, 1, 1), time(9))
    found = fortnightly.next_after(date(2090, 1, 1))
    assert found is not None
    assert (found.date() - date(1990, 1, 1)).days % 14 == 0
    assert (found.date() - date(2090, 1, 1)).days <= 14


def test_the_calendar_ends_without_an_error() -> None:
    for text in ("FREQ=DAILY", "FREQ=WEEKLY", "FREQ=MONTHLY;SKIP=FORWARD", "FREQ=YEARLY"):
        recurrence = Recurrence.parse(text, date(9999, 1, 31))
        assert all(wall.year == 9999 for wall in recurrence.occurrences())


def test_an_occurrence_keeps_the_date_of_its_wall_time() -> None:
    recurrence = Recurrence.parse("FREQ=DAILY", date(2011, 12, 29), time(7))
    apia = zone("Pacific/Apia")
    found = list(islice(recurrence.instants_after(utc("2011-12-29 00:00"), apia), 3))
    assert [each.wall.day for each in found] == [29, 30, 31]
    assert found[1].instant == found[2].instant == instant_of(parse_wall("2011-12-31 07:00"), apia)
