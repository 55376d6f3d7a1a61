"""Stretches of the index hold every moment that is due in a window, in any zone, whatever its clock does."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.civil_time import end_of_date, instant_of, local_date, start_of_date, wall_of, zone_names
from domain.moment_ranges import (
    Calendar,
    Direction,
    Stretch,
    Window,
    needs_calendar,
    of_instants,
    stepping_to,
)
from domain.offsets import Offset

ZONES = sorted(zone_names())
DAY = timedelta(days=1)
INSTANT = timedelta(microseconds=1)
OFFSETS = (
    *("0 minutes", "90 minutes", "24 hours", "1000 hours"),
    *("0 days", "1 day", "3 days", "2 weeks", "400 days"),
    *("0 months", "1 month", "5 months", "1 year", "4 years"),
    *("0 days at 00:00", "0 days at 08:00", "0 months at 23:59", "1 day at 02:30", "3 days at 09:00"),
    *("1 month at 02:30", "1 month at 00:00", "1 year at 12:00"),
)
SPANS = (
    INSTANT,
    timedelta(seconds=1),
    timedelta(minutes=1),
    timedelta(hours=6),
    timedelta(hours=26),
    timedelta(days=40),
)


@cache
def changes(name: str, year: int) -> tuple[datetime, ...]:
    """Return the instants in a year at which a zone's clock is changed; where there is none, a day in March."""
    place, found = ZoneInfo(name), []
    day = datetime(year, 1, 1, tzinfo=UTC)
    while day.year == year:
        if day.astimezone(place).utcoffset() != (day + DAY).astimezone(place).utcoffset():
            found.append(change_within(place, day))
        day += DAY
    return tuple(found) or (datetime(year, 3, 1, tzinfo=UTC),)


def change_within(place: ZoneInfo, day: datetime) -> datetime:
    before, after = day, day + DAY
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        same = middle.astimezone(place).utcoffset() == day.astimezone(place).utcoffset()
        before, after = (middle, after) if same else (before, middle)
    return after


@st.composite
def instants(draw: st.DrawFn, name: str) -> datetime:
    """Draw instants, most of them near a change of the zone's clock."""
    change = draw(st.sampled_from(changes(name, draw(st.sampled_from((1995, 2007, 2011, 2016, 2024, 2026))))))
    near = st.timedeltas(-3 * DAY, 3 * DAY)
    exact = st.sampled_from([timedelta(hours=hours / 2) for hours in range(-6, 7)])
    return change + draw(st.one_of(near, exact)) + draw(st.sampled_from((timedelta(), 100 * DAY)))


@st.composite
def anchors(draw: st.DrawFn, name: str, offset: Offset, direction: Direction) -> date:
    """Draw instants and dates from which an offset leads near a change of the zone's clock."""
    place = ZoneInfo(name)
    reached = draw(instants(name))
    dated = draw(st.booleans())
    if offset.is_elapsed:
        seconds = offset.amount if direction == "before" else -offset.amount
        moved = reached + timedelta(seconds=seconds)
        return local_date(moved, place) if dated else moved
    wall = wall_of(reached, place)
    step = offset.day_after if direction == "before" else offset.day_before
    day = step(wall.date()) + draw(st.integers(-4, 4)) * DAY
    told = datetime.combine(day, wall.time()).replace(tzinfo=place, fold=draw(st.integers(0, 1)))
    return day if dated else told.astimezone(UTC)


def shown(anchor: date, direction: Direction, offset: Offset, place: ZoneInfo) -> datetime:
    """Return where the index has an anchor: at its wall time if the offset needs the calendar, else its instant."""
    if not needs_calendar(offset):
        if isinstance(anchor, datetime):
            return anchor
        return start_of_date(anchor, place) if direction == "before" else end_of_date(anchor, place)
    wall = wall_of(anchor, place) if isinstance(anchor, datetime) else datetime.combine(anchor, time())
    return wall.replace(tzinfo=UTC)


def stretches(offset: Offset, direction: Direction, dated: bool, place: ZoneInfo, window: Window) -> list[Stretch]:
    if needs_calendar(offset):
        return Calendar.of(place, window).of_walls(offset, direction, dated=dated)
    return [of_instants(offset, direction, window)]


def due(offset: Offset, direction: Direction, anchor: date, place: ZoneInfo) -> datetime:
    return offset.before(anchor, place) if direction == "before" else offset.after(anchor, place)


def estimated(stretch: Stretch, where: datetime) -> datetime | None:
    """Return when an anchor in a stretch is due by what the stretch says, or None where it cannot say."""
    return where - stretch.lead if stretch.lead is not None else stretch.at


@given(st.data(), st.sampled_from(ZONES), st.sampled_from(OFFSETS), st.sampled_from(("before", "after")))
def test_what_is_due_in_a_window_lies_in_a_stretch_that_says_when_or_at_any_time(
    data: st.DataObject, name: str, text: str, direction: Direction
) -> None:
    offset, place = Offset.parse(text), ZoneInfo(name)
    anchor = data.draw(anchors(name, offset, direction))
    at = due(offset, direction, anchor, place)
    window = Window(at - data.draw(st.sampled_from(SPANS)), at + data.draw(st.sampled_from((timedelta(), *SPANS))))
    where = shown(anchor, direction, offset, place)
    found = stretches(offset, direction, not isinstance(anchor, datetime), place, window)
    dues = [estimated(each, where) for each in found if each.first < where <= each.last]
    assert at in dues or None in dues


@given(st.data(), st.sampled_from(ZONES), st.sampled_from(OFFSETS), st.sampled_from(("before", "after")), st.booleans())
def test_while_the_clock_is_steady_nothing_else_lies_in_a_stretch(
    data: st.DataObject, name: str, text: str, direction: Direction, dated: bool
) -> None:
    offset, place = Offset.parse(text), ZoneInfo(name)
    after = data.draw(instants(name))
    window = Window(after, after + data.draw(st.sampled_from(SPANS)))
    if not offset.amount or (needs_calendar(offset) and not Calendar.of(place, window).is_steady):
        return
    for each in stretches(offset, direction, dated, place, window):
        where = data.draw(st.datetimes(*(edge.replace(tzinfo=None) for edge in (each.first + INSTANT, each.last))))
        anchor = anchor_at(where, dated, needs_calendar(offset), place)
        if anchor is not None and shown(anchor, direction, offset, place) == where.replace(tzinfo=UTC):
            at = due(offset, direction, anchor, place)
            assert at in window
            assert at == estimated(each, where.replace(tzinfo=UTC))


def anchor_at(where: datetime, dated: bool, on_walls: bool, place: ZoneInfo) -> date | None:
    if dated:
        return where.date() if on_walls else None
    return instant_of(where, place) if on_walls else where.replace(tzinfo=UTC)


@given(st.sampled_from(OFFSETS), st.sampled_from(("before", "after")), st.dates(date(1950, 1, 1), date(2100, 1, 1)))
@example("1 month", "before", date(2026, 2, 28))
@example("1 year", "after", date(2028, 2, 29))
def test_the_dates_that_steps_lead_from_are_all_there(text: str, direction: Direction, day: date) -> None:
    offset = Offset.parse(text)
    if offset.is_elapsed:
        return
    step = offset.day_before if direction == "before" else offset.day_after
    back = offset.day_after(day) if direction == "before" else offset.day_before(day)
    near = [back + timedelta(days=days) for days in range(-40, 41)]
    assert list(stepping_to(offset, direction, day)) == [found for found in near if step(found) == day]


def test_months_ends_are_reached_from_four_days_and_some_days_from_none() -> None:
    month = Offset.parse("1 month")
    assert stepping_to(month, "after", date(2026, 2, 28)) == tuple(date(2026, 1, day) for day in (28, 29, 30, 31))
    assert stepping_to(month, "before", date(2026, 3, 31)) == ()
    assert stepping_to(month, "before", date(2026, 2, 28)) == tuple(date(2026, 3, day) for day in (28, 29, 30, 31))


@pytest.mark.parametrize(
    ("zone", "window"), [("Pacific/Apia", "2011-12-30 10:00"), ("Australia/Lord_Howe", "2026-04-04 15:00")]
)
def test_where_the_clock_is_changed_more_is_asked_for(zone: str, window: str) -> None:
    after = datetime.fromisoformat(window).replace(tzinfo=UTC)
    calendar = Calendar.of(ZoneInfo(zone), Window(after, after + timedelta(minutes=1)))
    assert not calendar.is_steady
    (stretch,) = calendar.of_walls(Offset.parse("1 day"), "before", dated=False)
    assert stretch.last - stretch.first > 4 * DAY


def test_a_quiet_minute_asks_for_a_minute_or_for_nothing() -> None:
    after = datetime(2026, 5, 12, 8, 0, tzinfo=UTC)
    calendar = Calendar.of(ZoneInfo("Europe/Berlin"), Window(after, after + timedelta(minutes=1)))
    (stretch,) = calendar.of_walls(Offset.parse("2 days"), "before", dated=False)
    assert (stretch.first, stretch.last) == (
        datetime(2026, 5, 14, 10, 0, tzinfo=UTC),
        datetime(2026, 5, 14, 10, 1, tzinfo=UTC),
    )
    assert calendar.of_walls(Offset.parse("2 days at 09:00"), "before", dated=False) == []
    assert calendar.of_walls(Offset.parse("2 days"), "after", dated=True) == []
