"""Properties of instants, wall times and dates, over all zones and two centuries."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import example, given
from hypothesis import strategies as st

from domain.civil_time import end_of_date, instant_of, local_date, start_of_date, wall_of, zone, zone_names
from domain.time_texts import parse_date, parse_wall

SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)

# The zones whose clocks did the oddest things come up more often than the others.
zones = st.sampled_from(
    [
        "Africa/Cairo",
        "Africa/Casablanca",
        "America/Sao_Paulo",
        "America/St_Johns",
        "Asia/Kathmandu",
        "Australia/Lord_Howe",
        "Europe/Berlin",
        "Europe/Dublin",
        "Pacific/Apia",
        "Pacific/Kwajalein",
    ]
).map(zone) | st.sampled_from(sorted(zone_names())).map(zone)
walls = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1))
instants = walls.map(lambda wall: wall.replace(tzinfo=UTC))
days = st.dates(date(1900, 1, 1), date(2100, 1, 1))


def offset_at(instant: datetime, place: ZoneInfo) -> timedelta:
    return wall_of(instant, place) - instant.replace(tzinfo=None)


def instants_that_show(wall: datetime, place: ZoneInfo) -> set[datetime]:
    """Return, by trying every offset around, all instants at which the clocks show a wall time."""
    around = [wall.replace(tzinfo=UTC) + hours * HOUR for hours in range(-50, 51)]
    tried = {wall.replace(tzinfo=UTC) - offset_at(each, place) for each in around}
    return {instant for instant in tried if wall_of(instant, place) == wall}


@given(walls, zones)
@example(parse_wall("2026-03-29 02:30"), zone("Europe/Berlin"))
@example(parse_wall("2026-10-25 02:30"), zone("Europe/Berlin"))
@example(parse_wall("2026-10-04 02:10"), zone("Australia/Lord_Howe"))
@example(parse_wall("2011-12-30 10:00"), zone("Pacific/Apia"))
@example(parse_wall("2026-03-22 02:30"), zone("Africa/Casablanca"))
def test_a_wall_time_is_its_first_instant_or_moves_on_by_the_gap(wall: datetime, place: ZoneInfo) -> None:
    instant = instant_of(wall, place)
    assert instant.tzinfo is UTC
    showing = instants_that_show(wall, place)
    if showing:
        assert instant == min(showing)
        return
    gap = wall_of(instant, place) - wall
    assert gap > timedelta(0)
    assert offset_at(instant, place) - offset_at(instant - gap, place) == gap


@given(instants, zones)
def test_from_an_instant_to_the_clock_and_back(instant: datetime, place: ZoneInfo) -> None:
    wall = wall_of(instant, place)
    back = instant_of(wall, place)
    assert wall.tzinfo is None
    assert back <= instant
    assert wall_of(back, place) == wall


@given(days, zones)
@example(parse_date("2018-11-04"), zone("America/Sao_Paulo"))
@example(parse_date("2011-12-30"), zone("Pacific/Apia"))
@example(parse_date("1993-08-21"), zone("Pacific/Kwajalein"))
@example(parse_date("1919-03-31"), zone("America/Toronto"))
@example(parse_date("2006-10-29"), zone("America/St_Johns"))
def test_a_date_is_the_time_between_its_first_instant_and_the_next_ones(day: date, place: ZoneInfo) -> None:
    start, end = start_of_date(day, place), end_of_date(day, place)
    assert end == start_of_date(day + DAY, place)
    assert timedelta(0) <= end - start <= timedelta(hours=49)
    assert local_date(start - SECOND, place) < day
    assert local_date(start, place) == day or start == end
    assert local_date(end, place) > day


@given(instants, zones)
def test_no_instant_lies_before_the_first_one_of_its_date(instant: datetime, place: ZoneInfo) -> None:
    assert start_of_date(local_date(instant, place), place) <= instant


def test_the_days_around_every_change_of_a_decade_join_in_every_zone() -> None:
    for name in sorted(zone_names()):
        place = zone(name)
        starts = [start_of_date(date(2009, 12, 31) + n * 7 * DAY, place) for n in range(520)]
        assert starts == sorted(starts), name
