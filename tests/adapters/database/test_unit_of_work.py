"""One transaction for everything that belongs together."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.failures import Contended, Unreachable
from adapters.database.queue import Waiting, enqueue
from adapters.database.schema import queue
from adapters.database.unit_of_work import retrying, unit_of_work
from domain.errors import Conflict, InvalidInput
from tests.adapters.database.samples import append, noted


def state_of(log: EventLog) -> tuple[int, int, int]:
    """Return the head, the position of the follower, and the number of queue rows."""
    with reading(log.engine) as connection:
        rows = connection.scalar(sa.select(sa.func.count()).select_from(queue))
        return log_queries.head_position(connection), log_queries.tracked_position(connection, "f"), rows or 0


def test_events_position_and_rows_are_committed_together(log: EventLog) -> None:
    with unit_of_work(log) as work:
        work.append([noted("a")])
        work.track("f", 1, after=0)
        enqueue(work.connection, [Waiting("q", "i")])
        work.append([noted("a", 2), noted("b")])
        assert work.positions == []
    assert work.positions == [1, 2, 3]
    assert state_of(log) == (3, 1, 1)


def test_an_error_leaves_nothing_behind(log: EventLog) -> None:
    def fail() -> None:
        with unit_of_work(log) as work:
            work.append([noted("a")])
            work.flush()
            work.track("f", 1)
            enqueue(work.connection, [Waiting("q", "i")])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert state_of(log) == (0, 0, 0)


def test_a_conflict_of_the_last_statement_leaves_nothing_behind(log: EventLog) -> None:
    def fail() -> None:
        with unit_of_work(log) as work:
            work.track("f", 1)
            enqueue(work.connection, [Waiting("q", "i")])
            work.append([noted("b"), noted("a")])

    append(log, noted("a"))
    with pytest.raises(Conflict):
        fail()
    assert state_of(log) == (1, 0, 0)


def test_with_the_head_locked_an_append_is_written_at_once(log: EventLog) -> None:
    append(log, noted("a"))
    with unit_of_work(log) as work:
        assert work.lock_head() == 1
        work.append([noted("a", 2)])
        assert work.positions == [2]
        assert log_queries.last_versions(work.connection, ["a"]) == {"a": 2}


def test_a_locked_head_keeps_what_was_checked_true(log: EventLog) -> None:
    """Each of several writers adds an event only while there are fewer than five: there are five."""

    def add(name: str) -> None:
        for _ in range(4):
            with unit_of_work(log) as work:
                if work.lock_head() < 5:
                    version = log_queries.last_versions(work.connection, [name]).get(name, 0) + 1
                    work.append([noted(name, version)])

    writers = [threading.Thread(target=add, args=(f"s{number}",)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert state_of(log)[0] == 5


def test_the_head_is_free_until_the_end(log: EventLog) -> None:
    """While one transaction prepares its append, another appends; on SQLite it would wait for it."""
    if log.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    with unit_of_work(log) as slow:
        slow.append([noted("slow")])
        slow.track("f", 1)
        assert append(log, noted("quick")) == [1]
    assert slow.positions == [2]


def listening(log: EventLog) -> int:
    """Return the number of the last ring once the log listens: on PostgreSQL it rings for a start."""
    return log.wait_for_news(10, 0) if log.engine.dialect.name == "postgresql" else log.wait_for_news(0)


def test_a_commit_with_events_rings(log: EventLog) -> None:
    heard = listening(log)
    with unit_of_work(log) as work:
        work.track("f", 1)
    assert log.wait_for_news(0, heard) == heard
    append(log, noted("a"))
    assert log.wait_for_news(0, heard) > heard


def test_a_commit_without_events_rings_on_request(log: EventLog) -> None:
    heard = listening(log)
    with unit_of_work(log) as work:
        work.wake()
    assert log.wait_for_news(0, heard) > heard


def test_what_was_rolled_back_does_not_ring(log: EventLog) -> None:
    def fail() -> None:
        with unit_of_work(log) as work:
            work.append([noted("a")])
            raise ZeroDivisionError

    heard = listening(log)
    with pytest.raises(ZeroDivisionError):
        fail()
    assert log.wait_for_news(0, heard) == heard


class Failing:
    """An action that fails with these errors, one after the other, before it succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    def __call__(self) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def test_an_action_is_done_anew_after_a_conflict_or_a_lock() -> None:
    slept: list[float] = []
    action = Failing(Conflict("x"), Contended("x"), Conflict("x"))
    assert retrying(action, sleep=slept.append, pause=0.01, jitter=lambda: 1) == "done"
    assert slept == [0.01, 0.02, 0.04]


def test_pauses_are_bounded_and_shrunk_by_the_jitter() -> None:
    slept: list[float] = []
    action = Failing(*[Conflict("x")] * 6)
    assert retrying(action, sleep=slept.append, pause=1, longest=4, jitter=lambda: 0.5) == "done"
    assert slept == [0.5, 1, 2, 2, 2, 2]


def test_the_last_attempt_raises() -> None:
    action = Failing(Conflict("first"), Conflict("second"), Conflict("third"))
    with pytest.raises(Conflict, match="third"):
        retrying(action, sleep=lambda seconds: None, attempts=3)


@pytest.mark.parametrize("error", [Unreachable("down"), InvalidInput("wrong"), ZeroDivisionError()])
def test_other_errors_are_not_retried(error: Exception) -> None:
    action = Failing(error)
    with pytest.raises(type(error)):
        retrying(action, sleep=lambda seconds: None)
    assert action() == "done"
