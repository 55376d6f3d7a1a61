"""The two clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from adapters.clock import SimulatedClock, SystemClock

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)


def test_the_clock_of_the_machine_is_in_utc_and_its_seconds_do_not_go_back() -> None:
    clock = SystemClock()
    first, second = clock.monotonic(), clock.monotonic()
    assert clock.now().tzinfo is UTC
    assert first <= second


def test_a_simulated_clock_stands_still_until_it_is_told() -> None:
    clock = SimulatedClock(NOON)
    assert (clock.now(), clock.now(), clock.monotonic()) == (NOON, NOON, 0.0)


def test_passing_time_moves_both_readings() -> None:
    clock = SimulatedClock(NOON)
    clock.advance(timedelta(minutes=5))
    assert (clock.now(), clock.monotonic()) == (NOON + timedelta(minutes=5), 300.0)


def test_time_does_not_pass_backwards() -> None:
    with pytest.raises(ValueError, match="backwards"):
        SimulatedClock(NOON).advance(timedelta(seconds=-1))


def test_a_clock_set_forward_lets_the_time_between_pass() -> None:
    clock = SimulatedClock(NOON)
    clock.set(NOON + timedelta(hours=1))
    assert (clock.now(), clock.monotonic()) == (NOON + timedelta(hours=1), 3600.0)


def test_a_clock_set_back_keeps_its_elapsed_seconds() -> None:
    clock = SimulatedClock(NOON)
    clock.advance(timedelta(seconds=10))
    clock.set(NOON - timedelta(days=1))
    assert (clock.now(), clock.monotonic()) == (NOON - timedelta(days=1), 10.0)


@pytest.mark.parametrize("by", [timedelta(days=2), timedelta(days=-2)])
def test_a_jump_moves_the_shown_instant_alone(by: timedelta) -> None:
    clock = SimulatedClock(NOON)
    clock.jump(NOON + by)
    assert (clock.now(), clock.monotonic()) == (NOON + by, 0.0)


def test_instants_are_kept_in_utc() -> None:
    berlin = timezone(timedelta(hours=2))
    assert SimulatedClock(datetime(2026, 5, 12, 14, tzinfo=berlin)).now().utcoffset() == timedelta()


def test_a_time_without_an_offset_is_refused() -> None:
    naive = datetime(2026, 5, 12, 12)
    with pytest.raises(ValueError, match="no offset"):
        SimulatedClock(naive)
    with pytest.raises(ValueError, match="no offset"):
        SimulatedClock(NOON).set(naive)
