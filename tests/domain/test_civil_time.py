"""Instants, zones and local dates, at the odd places of the calendar."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime

import pytest
from pydantic import BaseModel, ValidationError

from domain.civil_time import (
    Instant,
    Zone,
    end_of_date,
    instant_of,
    local_date,
    start_of_date,
    wall_of,
    zone,
)
from domain.time_texts import format_wall, parse_date, parse_wall


def utc(text: str) -> datetime:
    return parse_wall(text).replace(tzinfo=UTC)


class Placed(BaseModel):
    at: Instant
    time_zone: Zone = "UTC"


def test_an_instant_is_kept_in_utc_and_a_time_without_an_offset_is_refused() -> None:
    assert Placed.model_validate({"at": "2026-05-12T10:00:00+02:00"}).at == utc("2026-05-12 08:00")
    with pytest.raises(ValidationError, match="has no offset"):
        Placed.model_validate({"at": "2026-05-12T10:00:00"})


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"])
def test_an_instant_at_the_edge_of_the_calendar_is_refused_and_breaks_nothing(text: str) -> None:
    with pytest.raises(ValidationError, match="years 1 to 9999"):
        Placed.model_validate({"at": text})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Europe/Berln", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("Amercia/Sao_Paulo", "America/Sao_Paulo"),
    ],
)
def test_an_unknown_zone_is_refused_with_the_nearest_name(name: str, meant: str) -> None:
    with pytest.raises(ValidationError, match=f"did you mean {meant}"):
        Placed.model_validate({"at": "2026-05-12T10:00:00Z", "time_zone": name})


@pytest.mark.parametrize(
    "name",
    ["", "/etc/localtime", "../../etc/passwd", "localtime", "Factory", "posix/Europe/Berlin", "Europe",
     "Europe/Berlin\0", "+02:00", pytest.param("x" * 100_000, id="very long"), "\ud800", "Europe/Berlin "],
)  # fmt: skip
def test_paths_offsets_and_this_machines_own_zone_are_no_zones(name: str) -> None:
    with pytest.raises(ValueError, match="not an IANA time zone"):
        zone(name)


def test_old_names_of_zones_are_still_zones() -> None:
    assert zone("Asia/Calcutta").key == "Asia/Calcutta"
    assert zone("UTC") is zone("UTC")


@pytest.mark.parametrize(
    ("name", "wall", "instant"),
    [
        ("Europe/Berlin", "2026-05-12 10:00", "2026-05-12 08:00"),
        # 02:30 does not exist on 29 March and is 03:30; it exists twice on 25 October and is the first.
        ("Europe/Berlin", "2026-03-29 02:30", "2026-03-29 01:30"),
        ("Europe/Berlin", "2026-10-25 02:30", "2026-10-25 00:30"),
        # A change by half an hour.
        ("Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-03 15:45"),
        ("Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-04 14:45"),
        ("Asia/Kolkata", "2026-05-12 10:00", "2026-05-12 04:30"),
        ("Asia/Kathmandu", "2026-05-12 10:00", "2026-05-12 04:15"),
        # Summer time is the standard one here, and winter goes back from it.
        ("Europe/Dublin", "2026-03-29 01:30", "2026-03-29 01:30"),
        # 30 December did not exist: its times are those of the 31st.
        ("Pacific/Apia", "2011-12-30 12:00", "2011-12-30 22:00"),
        ("Pacific/Apia", "2011-12-31 12:00", "2011-12-30 22:00"),
    ],
)
def test_a_wall_time_means_one_instant(name: str, wall: str, instant: str) -> None:
    assert instant_of(parse_wall(wall), zone(name)) == utc(instant)


@pytest.mark.parametrize(
    ("instant", "wall"),
    [
        ("2026-03-29 00:59", "2026-03-29 01:59"),
        ("2026-03-29 01:00", "2026-03-29 03:00"),
        ("2026-10-25 00:30", "2026-10-25 02:30"),
        ("2026-10-25 01:30", "2026-10-25 02:30"),
    ],
)
def test_an_instant_shows_one_wall_time(instant: str, wall: str) -> None:
    shown = wall_of(utc(instant), zone("Europe/Berlin"))
    assert (format_wall(shown), shown.fold, shown.tzinfo) == (wall, 0, None)


def test_the_second_of_two_equal_hours_is_read_as_the_first_whatever_fold_says() -> None:
    wall = parse_wall("2026-10-25 02:30").replace(fold=1)
    assert instant_of(wall, zone("Europe/Berlin")) == utc("2026-10-25 00:30")


def test_wall_times_and_instants_are_not_confused() -> None:
    berlin = zone("Europe/Berlin")
    with pytest.raises(ValueError, match="not a wall time"):
        instant_of(utc("2026-05-12 10:00"), berlin)
    with pytest.raises(ValueError, match="not an instant"):
        wall_of(parse_wall("2026-05-12 10:00"), berlin)


def test_the_edges_of_the_calendar_are_refused_and_break_nothing() -> None:
    berlin, new_york = zone("Europe/Berlin"), zone("America/New_York")
    attempts: list[Callable[[], datetime]] = [
        lambda: instant_of(parse_wall("0001-01-01 00:00"), berlin),
        lambda: instant_of(parse_wall("9999-12-31 23:00"), new_york),
        lambda: wall_of(utc("9999-12-31 23:30"), berlin),
        lambda: wall_of(utc("0001-01-01 00:00"), new_york),
        lambda: end_of_date(date.max, berlin),
    ]
    for impossible in attempts:
        with pytest.raises(ValueError, match="years 1 to 9999"):
            impossible()


def test_trial_14_an_all_day_booking_on_a_day_of_25_hours_ends_with_that_day() -> None:
    berlin = zone("Europe/Berlin")
    assert start_of_date(parse_date("2026-10-25"), berlin) == utc("2026-10-24 22:00")
    assert end_of_date(parse_date("2026-10-25"), berlin) == utc("2026-10-25 23:00")


def test_trial_19_the_spaces_date_is_neither_that_of_utc_nor_the_members() -> None:
    starts_at = instant_of(parse_wall("2026-07-01 18:00"), zone("America/Los_Angeles"))
    assert starts_at == utc("2026-07-02 01:00")
    assert local_date(starts_at, zone("America/Los_Angeles")) == date(2026, 7, 1)
    assert local_date(starts_at, zone("Asia/Tokyo")) == date(2026, 7, 2)


@pytest.mark.parametrize(
    ("name", "day", "first"),
    [
        ("Europe/Berlin", "2026-05-12", "2026-05-11 22:00"),
        # Midnight is skipped: the date begins at 01:00.
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04 03:00"),
        ("Africa/Cairo", "2024-04-26", "2024-04-25 22:00"),
        ("Asia/Beirut", "2024-03-31", "2024-03-30 22:00"),
        # From 23:30 to 00:30: the date begins within the skipped hour, not after an hour's move.
        ("America/Toronto", "1919-03-31", "1919-03-31 04:30"),
        # Midnight comes twice: the first one counts.
        ("America/Havana", "2026-11-01", "2026-11-01 04:00"),
        # The skipped date is empty and begins with the next one.
        ("Pacific/Apia", "2011-12-30", "2011-12-30 10:00"),
        ("Pacific/Apia", "2011-12-31", "2011-12-30 10:00"),
        ("Pacific/Kwajalein", "1993-08-21", "1993-08-21 12:00"),
    ],
)
def test_a_date_begins_at_its_first_instant(name: str, day: str, first: str) -> None:
    assert start_of_date(parse_date(day), zone(name)) == utc(first)


def test_a_skipped_date_has_no_length() -> None:
    skipped = parse_date("2011-12-30")
    assert start_of_date(skipped, zone("Pacific/Apia")) == end_of_date(skipped, zone("Pacific/Apia"))
