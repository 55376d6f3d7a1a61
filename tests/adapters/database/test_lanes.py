"""Lanes are shared: whoever finds a service away tells all, and one at a time asks again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from adapters.database import lanes, queue
from adapters.database.claims import QUEUE
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.lanes import StoredLanes
from adapters.database.queue import Waiting
from automations.lanes import FAILURES_IN_A_ROW, PROBE_INTERVAL, Lane
from domain.endings import Done, Misconfigured, TryLater
from domain.events import DomainEvent
from domain.lanes import LaneHeld, LaneRecovered
from tests.adapters.database.samples import AT

AWAY, DENIED = TryLater(reason="away"), Misconfigured(reason="401")
SOON = AT + PROBE_INTERVAL


@pytest.fixture
def stored(log: EventLog) -> StoredLanes:
    return StoredLanes(log)


def told(log: EventLog) -> list[DomainEvent]:
    """Return what the log says about lanes."""
    return [log.mapper.to_domain_event(stored) for stored in log.select_events("lane/access")]


def wait_apart(log: EventLog, *items: str) -> None:
    """Let items wait behind the lane, one after the other."""
    with writing(log.engine) as connection:
        queue.enqueue(connection, [Waiting(QUEUE, item) for item in items], leased_by="me")
        leases = [queue.Lease(QUEUE, item, "me", 1) for item in items]
        for number, lease in enumerate(leases):
            assert queue.set_apart(connection, [lease], "access", AT + timedelta(seconds=number)) == []


def free(log: EventLog) -> list[str]:
    """Return what can be taken from the queue."""
    with writing(log.engine) as connection:
        return [lease.item for lease in queue.lease(connection, QUEUE, "free", 100, SOON)]


def test_a_service_that_answers_leaves_no_trace(stored: StoredLanes, log: EventLog) -> None:
    stored.report(stored.look("access"), Done(), AT)
    assert stored.look("access") == Lane("access")
    assert told(log) == []


def test_failures_of_several_workers_are_counted_together(log: EventLog) -> None:
    for number in range(FAILURES_IN_A_ROW):
        assert told(log) == []
        one_of_many = StoredLanes(log)
        one_of_many.report(one_of_many.look("access"), AWAY, AT + timedelta(seconds=number))
    (held,) = told(log)
    assert isinstance(held, LaneHeld)
    assert (held.service, held.ending, held.reason, held.failures) == ("access", "try_later", "away", 5)
    assert StoredLanes(log).look("access").is_held
    assert not StoredLanes(log).look("billing").is_held


def test_a_hold_and_its_end_are_told_once_each(stored: StoredLanes, log: EventLog) -> None:
    before = stored.look("access")
    for ending in (DENIED, DENIED, AWAY, Done(), Done(), DENIED):
        stored.report(before if ending is DENIED else stored.look("access"), ending, AT)
    assert [type(event) for event in told(log)] == [LaneHeld, LaneRecovered, LaneHeld]
    assert [event.version for event in told(log)] == [1, 2, 3]


def test_one_of_several_workers_gets_the_probe(stored: StoredLanes) -> None:
    stored.report(stored.look("access"), DENIED, AT)
    seen = stored.look("access")
    assert [stored.take_probe(seen, SOON), stored.take_probe(seen, SOON)] == [True, False]
    assert stored.look("access").opens_at == SOON + PROBE_INTERVAL


def test_what_waits_behind_a_lane_is_neither_due_nor_taken(stored: StoredLanes, log: EventLog) -> None:
    stored.report(stored.look("access"), DENIED, AT)
    wait_apart(log, "b", "a")
    with reading(log.engine) as connection:
        assert queue.next_due(connection, QUEUE) is None
        assert lanes.next_opening(connection) == SOON
        assert lanes.opening(connection, SOON - timedelta(microseconds=1)) == []
        assert [lane.service for lane in lanes.opening(connection, SOON)] == ["access"]
    assert free(log) == []
    with writing(log.engine) as connection:
        (first,) = queue.lease_apart(connection, QUEUE, "access", "probe", 1)
        assert (first.item, first.owner, first.attempt) == ("b", "probe", 2)
        assert queue.set_apart(connection, [first], "access", SOON) == []
        assert [lease.item for lease in queue.lease_apart(connection, QUEUE, "access", "probe", 9)] == ["a", "b"]


def test_a_held_lane_that_nothing_waits_for_is_not_probed(stored: StoredLanes, log: EventLog) -> None:
    stored.report(stored.look("access"), DENIED, AT)
    with reading(log.engine) as connection:
        assert lanes.opening(connection, SOON) == []
        assert lanes.next_opening(connection) is None


def test_an_answer_lets_everything_through(stored: StoredLanes, log: EventLog) -> None:
    stored.report(stored.look("access"), DENIED, AT)
    wait_apart(log, "a", "b", "c")
    stored.report(stored.look("access"), Done(), SOON)
    assert stored.look("access") == Lane("access")
    assert free(log) == ["a", "b", "c"]


def test_a_rest_ends_by_itself_and_nobody_is_told(stored: StoredLanes, log: EventLog) -> None:
    stored.report(stored.look("access"), TryLater(reason="slow down", wait=timedelta(seconds=60)), AT)
    wait_apart(log, "a")
    assert not stored.end_rest("access", AT + timedelta(seconds=59))
    assert stored.end_rest("access", SOON)
    assert not stored.end_rest("access", SOON)
    assert (free(log), told(log)) == (["a"], [])
    assert stored.look("access") == Lane("access", failures=1, reason="slow down")


def test_somebody_may_ask_for_the_next_call_at_once(stored: StoredLanes, log: EventLog) -> None:
    with writing(log.engine) as connection:
        assert not lanes.probe_now(connection, "access", AT)
    stored.report(stored.look("access"), DENIED, AT)
    with writing(log.engine) as connection:
        assert lanes.probe_now(connection, "access", AT)
    assert stored.look("access").permits(AT)
