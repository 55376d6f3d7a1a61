"""A service that does not answer is left alone, asked again each minute, and called as before once it answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automations.lanes import FAILURES_IN_A_ROW, LONGEST_REST, PROBE_INTERVAL, Lane, OpenLanes, after_ending
from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown

AT = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
CLEAR = Lane("access")
AWAY, SET_UP_WRONGLY = TryLater(reason="away"), Misconfigured(reason="401")
ANSWERS = (Done(), Refused(reason="no"), Refused(reason="no such door", at_fault="rule"))
SILENCES = (AWAY, Unknown(reason="timed out"))

waits = st.none() | st.timedeltas(min_value=timedelta.min, max_value=timedelta.max)
endings = st.one_of(
    st.sampled_from([*ANSWERS, SET_UP_WRONGLY, Unknown(reason="timed out")]),
    waits.map(lambda wait: TryLater(reason="away", wait=wait)),
)


def after(*ended: Ending, lane: Lane = CLEAR) -> Lane:
    """Return the lane after calls have ended so, one a second."""
    for number, ending in enumerate(ended):
        lane = after_ending(lane, ending, AT + timedelta(seconds=number))
    return lane


def test_a_service_that_is_set_up_wrongly_is_left_alone_at_once() -> None:
    lane = after(SET_UP_WRONGLY)
    assert (lane.is_held, lane.held_by, lane.held_since, lane.reason) == (True, "misconfigured", AT, "401")
    assert not lane.permits(AT + PROBE_INTERVAL - timedelta(microseconds=1))
    assert lane.permits(AT + PROBE_INTERVAL)


@pytest.mark.parametrize("silence", SILENCES)
def test_a_service_that_fails_too_often_in_a_row_is_left_alone(silence: Ending) -> None:
    almost = after(*[silence] * (FAILURES_IN_A_ROW - 1))
    assert not almost.is_held
    assert almost.permits(AT)
    lane = after(silence, lane=almost)
    assert (lane.is_held, lane.held_by, lane.failures) == (True, silence.kind, FAILURES_IN_A_ROW)


@pytest.mark.parametrize("answer", ANSWERS)
def test_any_answer_ends_the_row_and_the_hold(answer: Ending) -> None:
    assert after(AWAY, AWAY, AWAY, AWAY, answer) == CLEAR
    assert after(SET_UP_WRONGLY, answer) == CLEAR


def test_a_held_lane_stays_held_by_what_held_it_first() -> None:
    lane = after(SET_UP_WRONGLY, AWAY)
    assert (lane.held_by, lane.held_since, lane.reason) == ("misconfigured", AT, "away")
    assert lane.opens_at == AT + timedelta(seconds=1) + PROBE_INTERVAL


def test_a_lane_lets_one_call_through_and_closes_behind_it() -> None:
    lane = after(SET_UP_WRONGLY).probed(AT + timedelta(minutes=5))
    assert not lane.permits(AT + timedelta(minutes=5))
    assert lane.permits(AT + timedelta(minutes=6))


def test_a_service_that_asks_for_a_pause_gets_it_without_being_held() -> None:
    lane = after(TryLater(reason="too many requests", wait=timedelta(seconds=60)))
    assert (lane.is_held, lane.opens_at) == (False, AT + timedelta(seconds=60))
    assert not lane.permits(AT + timedelta(seconds=59))


def test_a_held_lane_waits_as_long_as_the_service_asks_for_but_not_for_ever() -> None:
    asked = after(SET_UP_WRONGLY, TryLater(reason="away", wait=timedelta(minutes=10)))
    assert asked.opens_at == AT + timedelta(seconds=1, minutes=10)
    absurd = after(TryLater(reason="away", wait=timedelta.max))
    assert absurd.opens_at == AT + LONGEST_REST


def test_lanes_that_are_never_held_know_nothing() -> None:
    lanes = OpenLanes()
    lanes.report(CLEAR, SET_UP_WRONGLY, AT)
    assert lanes.look("access") == CLEAR
    assert lanes.take_probe(CLEAR, AT)


@given(st.lists(endings))
def test_a_lane_is_held_exactly_while_nothing_was_answered_since_it_had_to_be(ended: list[Ending]) -> None:
    answered = [number for number, ending in enumerate(ended) if isinstance(ending, Done | Refused)]
    since = ended[answered[-1] + 1 :] if answered else ended
    lane = after(*ended)
    assert lane.is_held == (SET_UP_WRONGLY in since or len(since) >= FAILURES_IN_A_ROW)
    assert lane.failures == len(since)
    assert lane.is_clear == (not since)


@given(st.lists(endings, min_size=1))
def test_a_lane_opens_again_within_bounds(ended: list[Ending]) -> None:
    lane, last = after(*ended), AT + timedelta(seconds=len(ended) - 1)
    if lane.is_held:
        assert lane.opens_at is not None
        assert last + PROBE_INTERVAL <= lane.opens_at <= last + LONGEST_REST
    elif lane.opens_at is not None:
        assert lane.opens_at <= last + LONGEST_REST
