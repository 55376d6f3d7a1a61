"""Quiet hours in every zone that there is: nothing is sent inside, and waiting ends at the first instant after."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import assume, given
from hypothesis import strategies as st

from domain.civil_time import wall_of, zone, zone_names
from domain.quiet_hours import QuietWindow

ZONES = st.sampled_from(sorted(zone_names())).map(zone)
CLOCKS = st.times().map(lambda clock: clock.replace(microsecond=0))
DAYS = st.frozensets(st.integers(0, 6), min_size=1)
INSTANTS = st.datetimes(datetime(1970, 1, 3), datetime(2090, 1, 1)).map(lambda naive: naive.replace(tzinfo=UTC))
LEAST = timedelta(microseconds=1)


@st.composite
def near_changes(draw: st.DrawFn) -> tuple[ZoneInfo, datetime]:
    """Give a zone and an instant, often one close to where its clocks change."""
    place, instant = draw(ZONES), draw(INSTANTS)
    later = instant + timedelta(days=200)
    if draw(st.booleans()) and instant.astimezone(place).utcoffset() != later.astimezone(place).utcoffset():
        while later - instant > timedelta(seconds=1):
            middle = instant + (later - instant) / 2
            same = middle.astimezone(place).utcoffset() == instant.astimezone(place).utcoffset()
            instant, later = (middle, later) if same else (instant, middle)
        instant = later.replace(microsecond=0) + timedelta(minutes=draw(st.integers(-300, 300)))
    return place, instant


@st.composite
def windows(draw: st.DrawFn) -> tuple[QuietWindow, datetime]:
    """Give quiet hours and an instant in their zone."""
    place, instant = draw(near_changes())
    start, end = draw(CLOCKS), draw(CLOCKS)
    assume(start != end)
    days = draw(st.one_of(st.just(frozenset(range(7))), DAYS))
    return QuietWindow(start, end, days, place), instant


def shown_inside(window: QuietWindow, instant: datetime) -> bool:
    """Say whether the clock on the wall shows a time within the quiet hours: the plain reading of them."""
    wall = wall_of(instant, window.zone)
    clock, today = wall.time(), wall.weekday()
    if window.start < window.end:
        return window.start <= clock < window.end and today in window.days
    evening = clock >= window.start and today in window.days
    morning = clock < window.end and (wall.date() - timedelta(days=1)).weekday() in window.days
    return evening or morning


def changes_around(window: QuietWindow, instant: datetime) -> bool:
    """Say whether the offset of the zone changes within two days of an instant."""
    around = (instant + timedelta(days=days) for days in (-2, 2))
    return len({each.astimezone(window.zone).utcoffset() for each in (instant, *around)}) > 1


@given(windows())
def test_nothing_is_sent_while_the_wall_clock_is_inside(case: tuple[QuietWindow, datetime]) -> None:
    window, instant = case
    over = window.over_at(instant)
    assert over >= instant
    assert not window.is_quiet(over)
    assert not shown_inside(window, over)
    assert window.is_quiet(instant) is (over != instant)
    if shown_inside(window, instant):
        assert window.is_quiet(instant)


@given(windows(), st.floats(0, 1))
def test_waiting_ends_at_the_first_instant_that_is_not_quiet(case: tuple[QuietWindow, datetime], part: float) -> None:
    window, instant = case
    over = window.over_at(instant)
    assume(over != instant)
    between = instant + (over - instant) * part
    for earlier in (min(between, over - LEAST), over - LEAST):
        assert window.over_at(earlier) == over


@given(windows())
def test_where_clocks_run_on_it_is_quiet_exactly_while_they_show_it(case: tuple[QuietWindow, datetime]) -> None:
    window, instant = case
    assume(not changes_around(window, instant))
    assert window.is_quiet(instant) is shown_inside(window, instant)
