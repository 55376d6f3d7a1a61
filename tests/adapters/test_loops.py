"""The loop of a worker: it stops when asked, waits for a lost database, and shows signs of life."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from adapters.database.engine import connect, writing
from adapters.database.event_log import EventLog
from adapters.database.migrations import install
from adapters.database.queue import Waiting, enqueue
from adapters.loops import Loop, heartbeat
from adapters.workers import Worked
from domain.errors import Conflict, Unavailable
from tests.adapters.database.samples import AT


class FakeWorker:
    """A worker that does what a test has told it to, round by round."""

    owner = "me"

    def __init__(self, *rounds: Callable[[], bool]) -> None:
        self.worked = Worked()
        self.rounds = list(rounds)
        self.beats = threading.Event()
        self.lost = False

    def work_once(self) -> bool:
        return self.rounds.pop(0)() if self.rounds else False

    def beat(self) -> None:
        self.beats.set()
        if self.lost:
            raise Unavailable("gone")


@pytest.fixture
def log(database_url: str) -> Iterator[EventLog]:
    """A log in which nothing stands."""
    engine = connect(database_url)
    install(engine, AT)
    log = EventLog(engine)
    yield log
    log.close()
    engine.dispose()


def loop(worker: FakeWorker, log: EventLog, stop: threading.Event) -> Loop:
    any_worker: Any = worker
    return Loop(any_worker, log, stop, poll=0.01)


def failing(error: Exception) -> Callable[[], bool]:
    def fail() -> bool:
        raise error

    return fail


def test_it_goes_on_while_there_is_something_to_do(log: EventLog) -> None:
    worker = FakeWorker(lambda: True, failing(Conflict("somebody was faster")), lambda: True)
    loop(worker, log, threading.Event()).until_idle(lambda held: None)
    assert worker.rounds == []


def test_it_stops_between_two_rounds(log: EventLog) -> None:
    stop = threading.Event()

    def last() -> bool:
        stop.set()
        return True

    worker = FakeWorker(lambda: True, last, lambda: True)
    loop(worker, log, stop).until_stopped()
    assert len(worker.rounds) == 1


def test_a_database_that_is_lost_for_a_while_is_waited_for(log: EventLog) -> None:
    stop = threading.Event()

    def last() -> bool:
        stop.set()
        return True

    worker = FakeWorker(failing(Unavailable("gone")), failing(Unavailable("still gone")), last)
    loop(worker, log, stop).until_stopped()
    assert worker.rounds == []


def test_until_idle_a_lost_database_is_an_error(log: EventLog) -> None:
    with pytest.raises(Unavailable):
        loop(FakeWorker(failing(Unavailable("gone"))), log, threading.Event()).until_idle(lambda held: None)


def held_by(log: EventLog, owner: str, *items: str) -> None:
    with writing(log.engine) as connection:
        enqueue(connection, [Waiting("actions", item) for item in items], leased_by=owner)


def change(log: EventLog, statement: str) -> Callable[[], bool]:
    def run() -> bool:
        with writing(log.engine) as connection:
            connection.execute(sa.text(statement))
        return False

    return run


def test_what_another_worker_holds_is_waited_for_as_long_as_it_shows_no_sign_of_life(log: EventLog) -> None:
    held_by(log, "another", "a", "b")
    worker = FakeWorker(
        lambda: False,
        change(log, "UPDATE queue SET beat = beat + 1 WHERE item = 'a'"),
        change(log, "DELETE FROM queue WHERE item = 'b'"),
    )
    told: list[int] = []
    loop(worker, log, threading.Event()).until_idle(told.append)
    assert told == [2, 1]
    assert worker.rounds == []


def test_what_this_worker_holds_is_not_waited_for(log: EventLog) -> None:
    held_by(log, "me", "a")
    told: list[int] = []
    loop(FakeWorker(), log, threading.Event()).until_idle(told.append)
    assert told == []


@pytest.mark.parametrize("lost", [False, True])
def test_signs_of_life_are_shown_from_another_thread_even_after_one_was_missed(lost: bool) -> None:
    worker = FakeWorker()
    worker.lost = lost
    any_worker: Any = worker
    with heartbeat(any_worker, lease_seconds=0.04):
        assert worker.beats.wait(10)
        worker.beats.clear()
        assert worker.beats.wait(10)
