"""How fast a channel may go, and what each of its lanes gets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from automations.notifications.pace import LaneShare, Rate, places_in_a_moment

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)


def gone_out(rate: Rate, waits: list[float], wanted: int) -> list[tuple[datetime, int]]:
    """Return when how many went out, where somebody asks again after each of these waits in seconds."""
    at, empty_at, sent = NOON, None, []
    for wait in waits:
        at += timedelta(seconds=wait)
        count = min(wanted, rate.left(empty_at, at))
        empty_at = rate.empty_after(count, empty_at, at)
        sent.append((at, count))
    return sent


def test_what_one_second_allows_goes_out_at_once_and_no_more() -> None:
    assert [count for _, count in gone_out(Rate(10), [0, 0, 0.5, 1, 3600], 100)] == [10, 0, 5, 10, 10]


def test_less_than_one_a_second_is_one_now_and_then() -> None:
    assert [count for _, count in gone_out(Rate(0.1), [0, 5, 5, 5, 5], 3)] == [1, 0, 1, 0, 1]


def test_a_clock_that_is_set_back_stops_nothing() -> None:
    assert [count for _, count in gone_out(Rate(10), [0, -86_400, 1], 10)] == [10, 0, 10]


@given(
    st.floats(0.05, 5_000),
    st.lists(st.floats(0, 20), min_size=1, max_size=30),
    st.integers(1, 1_000),
)
def test_no_second_sees_more_than_is_allowed_beside_what_was_saved(
    per_second: float, waits: list[float], wanted: int
) -> None:
    sent = gone_out(Rate(per_second), waits, wanted)
    for first, (begun, _) in enumerate(sent):
        for last in range(first, len(sent)):
            seconds = (sent[last][0] - begun).total_seconds()
            count = sum(number for _, number in sent[first : last + 1])
            assert count <= per_second * seconds + max(1.0, per_second) + 1


def test_bulk_has_every_tenth_place_while_both_wait() -> None:
    share = LaneShare()
    both = {"transactional": True, "bulk": True}
    given = [share.places(1, waiting=both) for _ in range(100)]  # type: ignore[arg-type]
    assert sum(places["bulk"] for places in given) == 10
    assert all(sum(places.values()) == 1 for places in given)


def test_a_lane_that_waits_alone_has_every_place() -> None:
    share = LaneShare()
    assert share.places(20, waiting={"transactional": False, "bulk": True}) == {"transactional": 0, "bulk": 20}
    assert share.places(20, waiting={"transactional": True, "bulk": False}) == {"transactional": 20, "bulk": 0}


def test_a_slow_channel_gets_what_it_does_in_a_moment_and_a_fast_one_all_there_is() -> None:
    def places(seconds: float | None) -> int:
        return places_in_a_moment(seconds, width=2, first=20, most=100)

    assert places(None) == 20
    assert places(0.0) == places(0.006) == 100
    assert places(0.125) == 4
    assert places(30.0) == 2
