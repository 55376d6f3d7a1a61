"""Our own copy of what matters of the recorder contract, and more: no follower ever misses an event.

The library's suite is run by `test_recorder_contract`, where what it needs is installed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from uuid import uuid4

import pytest
from eventsourcing.persistence import StoredEvent, Tracking

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.failures import Contended
from adapters.database.unit_of_work import unit_of_work
from domain.errors import Conflict
from tests.adapters.database.samples import append, append_all, noted


def stored(stream: str, version: int, topic: str = "t") -> StoredEvent:
    return StoredEvent(stream, version, topic, b"{}")


def test_an_empty_log_has_no_last_position(log: EventLog) -> None:
    assert log.max_notification_id() is None
    assert log.max_tracking_id("f") is None
    assert log.insert_events([]) == []
    assert log.select_notifications(None, 10) == []


def test_the_events_of_a_stream_are_selected_by_version(log: EventLog) -> None:
    log.insert_events([stored("a", 1), stored("b", 1), stored("a", 2), stored("a", 3)])

    def versions(**bounds: int | bool) -> list[int]:
        return [event.originator_version for event in log.select_events("a", **bounds)]  # type: ignore[arg-type]

    assert versions() == [1, 2, 3]
    assert versions(gt=1) == [2, 3]
    assert versions(lte=2) == [1, 2]
    assert versions(desc=True, limit=2) == [3, 2]
    assert log.select_events("c") == []


def test_the_log_is_selected_by_position_and_topic(log: EventLog) -> None:
    log.insert_events([stored("a", 1, "x"), stored("a", 2, "y"), stored("b", 1, "x"), stored("b", 2, "z")])

    def positions(*args: int | None, **how: object) -> list[int]:
        return [found.id for found in log.select_notifications(*args, **how)]  # type: ignore[arg-type]

    assert positions(None, 10) == [1, 2, 3, 4]
    assert positions(2, 10) == [2, 3, 4]
    assert positions(2, 10, inclusive_of_start=False) == [3, 4]
    assert positions(1, 10, 3) == [1, 2, 3]
    assert positions(None, 2) == [1, 2]
    assert positions(None, 10, topics=["x", "z"]) == [1, 3, 4]


def test_streams_named_by_uuids_come_back_as_such(log: EventLog) -> None:
    stream = uuid4()
    log.insert_events([StoredEvent(stream, 1, "t", b"{}")])
    assert log.select_notifications(None, 1)[0].originator_id == stream
    assert log.select_events(stream)[0].originator_id == stream


def test_a_follower_can_be_waited_for(log: EventLog) -> None:
    log.insert_tracking(Tracking("f", 3))
    log.wait("f", 3)
    assert log.has_tracking_id("f", 3)
    with pytest.raises(TimeoutError):
        log.wait("f", 4, timeout=0.01)


def test_a_subscription_goes_on_with_what_is_appended_later(log: EventLog) -> None:
    append(log, noted("a"), noted("b"))
    with log.subscribe(gt=1) as subscription:
        assert next(subscription).originator_id == "b"
        append(log, noted("c"))
        assert next(subscription).originator_id == "c"


class Follower(threading.Thread):
    """Reads the log while others write; every batch has to follow the one before without a gap."""

    def __init__(self, log: EventLog) -> None:
        super().__init__()
        self.log, self.last, self.gaps = log, 0, 0
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.is_set():
            self.follow()

    def follow(self) -> None:
        with reading(self.log.engine) as connection:
            found = [row.position for row in log_queries.events_after(connection, self.last, 500)]
        if found:
            self.gaps += found != list(range(self.last + 1, self.last + 1 + len(found)))
            self.last = found[-1]


@pytest.fixture
def follower(log: EventLog) -> Iterator[Follower]:
    follower = Follower(log)
    follower.start()
    yield follower
    follower.done.set()
    follower.join()


def test_a_follower_misses_nothing_of_six_concurrent_writers(log: EventLog, follower: Follower) -> None:
    writers = 6 if log.engine.dialect.name == "postgresql" else 3
    together, errors = threading.Barrier(writers), []

    def write(number: int) -> None:
        together.wait(20)
        try:
            for turn in range(40):
                append_all(log, (noted(f"{number}/{turn}", version) for version in range(1, 1 + turn % 4)))
        except Contended as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    follower.done.set()
    follower.join()
    follower.follow()
    assert errors == []
    assert follower.gaps == 0
    assert follower.last == log.max_notification_id() == writers * 60


def test_an_event_that_is_not_committed_holds_up_those_after_it(log: EventLog) -> None:
    """Else a follower that reads the later one would never come back for the earlier one."""
    follower = Follower(log)
    second = threading.Thread(target=append, args=(log, noted("second")))
    with unit_of_work(log) as first:
        first.append([noted("first")])
        first.flush()
        second.start()
        second.join(0.3)
        assert second.is_alive()
        follower.follow()
        assert follower.last == 0
    second.join()
    follower.follow()
    assert (follower.last, follower.gaps) == (2, 0)
    with reading(log.engine) as connection:
        assert [row.stream for row in log_queries.events_after(connection, 0, 9)] == ["first", "second"]


def test_of_racers_for_one_version_one_wins(log: EventLog) -> None:
    """The first version of a stream is a claim: it happens once, however many try."""
    won: list[int] = []
    together = threading.Barrier(5)

    def claim(number: int) -> None:
        together.wait(20)
        for key in range(10):
            try:
                append(log, noted(f"claim-{key}", 1, str(number)), noted(f"by-{number}", key + 1))
                won.append(key)
            except Conflict:
                append(log, noted(f"by-{number}", key + 1))

    threads = [threading.Thread(target=claim, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == list(range(10))
