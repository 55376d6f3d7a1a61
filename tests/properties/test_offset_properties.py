"""Properties of offsets, over all zones."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from domain.civil_time import end_of_date, instant_of, start_of_date, wall_of
from domain.durations import UNITS, Kind, format_duration, parse_duration
from domain.offsets import Offset
from domain.relative_instants import Direction, RelativeInstant
from tests.properties.test_civil_time_properties import days, instants, zones

clocks = st.times().map(lambda clock: clock.replace(microsecond=0))


def written(kinds: set[Kind], most: int) -> st.SearchStrategy[str]:
    names = [unit.name for unit in UNITS if unit.kind in kinds]
    return st.builds("{} {}s".format, st.integers(0, most), st.sampled_from(names))


elapsed = written({Kind.SECONDS}, 100_000).map(Offset.parse)
steps = written({Kind.DAYS, Kind.MONTHS}, 60)
timed_steps = st.builds("{} at {}".format, steps, clocks)
calendar = steps.map(Offset.parse)
offsets = st.one_of(elapsed, calendar, timed_steps.map(Offset.parse))


@given(offsets)
def test_text_leads_back(offset: Offset) -> None:
    again = Offset.parse(str(offset))
    assert again == offset
    assert str(again) == str(offset)
    named = RelativeInstant("booking.starts_at", Direction.BEFORE, offset)
    assert RelativeInstant.parse(str(named)) == named


@given(st.timedeltas(timedelta(0), timedelta(days=36_000)))
def test_a_duration_leads_back(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@given(elapsed, instants, zones)
def test_elapsed_time_is_exactly_elapsed(offset: Offset, instant: datetime, place: ZoneInfo) -> None:
    length = timedelta(seconds=offset.amount)
    assert instant - offset.before(instant, place) == length
    assert offset.after(instant, place) - instant == length


@given(elapsed, days, zones)
def test_elapsed_time_runs_from_the_edges_of_a_date(offset: Offset, day: date, place: ZoneInfo) -> None:
    length = timedelta(seconds=offset.amount)
    assert offset.before(day, place) == start_of_date(day, place) - length
    assert offset.after(day, place) == end_of_date(day, place) + length


@given(st.integers(1, 400), instants, zones)
def test_days_keep_the_wall_time_but_in_a_gap(count: int, instant: datetime, place: ZoneInfo) -> None:
    wall, offset = wall_of(instant, place), Offset.parse(f"{count} days")
    for reached, expected in (
        (offset.before(instant, place), wall - timedelta(days=count)),
        (offset.after(instant, place), wall + timedelta(days=count)),
    ):
        assert reached in {instant_of(expected, place), instant}
        assert wall_of(reached, place) >= expected


@given(st.integers(0, 60), days)
def test_months_keep_the_day_or_take_the_last_one(count: int, day: date) -> None:
    reached = Offset.parse(f"{count} months").day_after(day)
    months = (reached.year - day.year) * 12 + reached.month - day.month
    assert months == count
    assert reached.day == min(day.day, monthrange(reached.year, reached.month)[1])


@given(offsets, instants, zones)
def test_before_is_never_after_and_after_never_before(offset: Offset, instant: datetime, place: ZoneInfo) -> None:
    assert offset.before(instant, place) <= instant <= offset.after(instant, place)


@given(offsets, days, zones)
def test_after_a_date_is_never_before_its_end(offset: Offset, day: date, place: ZoneInfo) -> None:
    assert offset.after(day, place) >= end_of_date(day, place)


@given(st.integers(0, 60), days, zones)
def test_days_after_a_date_are_the_ends_of_the_following_ones(count: int, day: date, place: ZoneInfo) -> None:
    assert Offset.parse(f"{count} days").after(day, place) == end_of_date(day + timedelta(days=count), place)
    assert Offset.parse(f"{count} days").before(day, place) == start_of_date(day - timedelta(days=count), place)


@given(st.integers(1, 60), clocks, days, zones)
def test_a_clock_time_is_that_time_on_the_date_that_the_steps_reach(
    count: int, clock: time, day: date, place: ZoneInfo
) -> None:
    offset = Offset.parse(f"{count} days at {clock}")
    assert offset.before(day, place) == instant_of(datetime.combine(day - timedelta(days=count), clock), place)
    assert offset.after(day, place) == max(
        instant_of(datetime.combine(day + timedelta(days=count), clock), place), end_of_date(day, place)
    )
