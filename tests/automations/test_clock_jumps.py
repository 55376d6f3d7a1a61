"""A clock that somebody set ahead, and an outage without an end, are told from time that has passed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automations.clock_jumps import (
    Glance,
    Limits,
    PauseReason,
    pause_after_jump,
    pause_at_start,
    pause_of_a_copy,
)

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
LIMITS = Limits()


def later(before: Glance, wall: timedelta, elapsed: timedelta) -> Glance:
    return Glance(before.wall + wall, before.monotonic + elapsed.total_seconds())


def test_time_that_passes_is_no_jump_however_long() -> None:
    before = Glance(NOON, 5.0)
    now = later(before, 400 * DAY, 400 * DAY)
    assert now.jump_since(before) == timedelta()
    assert pause_after_jump(before, now, NOON, LIMITS) is None


@pytest.mark.parametrize(("wall", "pauses"), [(DAY, False), (DAY + SECOND, True), (-400 * DAY, False)])
def test_only_a_jump_ahead_beyond_the_limit_pauses(wall: timedelta, pauses: bool) -> None:
    before = Glance(NOON, 5.0)
    pause = pause_after_jump(before, later(before, wall + SECOND, SECOND), NOON, LIMITS)
    assert (pause is not None) is pauses


def test_a_pause_says_by_how_much_and_where_ticks_had_come() -> None:
    before = Glance(NOON, 5.0)
    pause = pause_after_jump(before, later(before, 90 * DAY + SECOND, SECOND), NOON - SECOND, LIMITS)
    assert pause is not None
    assert (pause.reason, pause.since) == (PauseReason.CLOCK_JUMPED, NOON - SECOND)
    assert pause.text == "the clock was set ahead by 90 days, to 2026-08-10 12:00 UTC"


@given(
    wall=st.timedeltas(min_value=-1000 * DAY, max_value=1000 * DAY),
    elapsed=st.timedeltas(min_value=timedelta(), max_value=1000 * DAY),
)
def test_a_jump_is_what_the_wall_clock_moved_beyond_the_time_that_passed(wall: timedelta, elapsed: timedelta) -> None:
    before = Glance(NOON, 0.0)
    jump = later(before, wall, elapsed).jump_since(before)
    assert abs(jump - (wall - elapsed)) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("looked_until", "enabled", "pauses"),
    [
        (NOON - 30 * DAY, NOON - 90 * DAY, False),
        (NOON - 30 * DAY - SECOND, NOON - 90 * DAY, True),
        (NOON - 90 * DAY, NOON - 30 * DAY, False),
        (NOON - 90 * DAY, None, False),
        (NOON + 90 * DAY, NOON - 90 * DAY, False),
    ],
)
def test_a_start_pauses_after_an_outage_in_which_an_enabled_rule_was_not_looked_at(
    looked_until: datetime, enabled: datetime | None, pauses: bool
) -> None:
    assert (pause_at_start(NOON, looked_until, enabled, LIMITS) is not None) is pauses


def test_the_reasons_of_a_start_are_told() -> None:
    pause = pause_at_start(NOON, NOON - 45 * DAY, NOON - 90 * DAY, LIMITS)
    assert pause is not None
    assert pause.text == "no engine has looked since 2026-03-28 12:00 UTC, 45 days ago"
    assert "restored from a backup" in pause_of_a_copy(NOON).text
