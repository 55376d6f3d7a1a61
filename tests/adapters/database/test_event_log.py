"""The log numbers what is recorded, without gaps and never twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from eventsourcing.persistence import StoredEvent, Tracking

from adapters.database import log_queries
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.failures import Contended
from adapters.database.schema import events, head, tracking
from domain.errors import Conflict, InvalidInput, Unavailable
from tests.adapters.database.samples import append, append_all, noted


@contextmanager
def nothing_changes(log: EventLog) -> Iterator[None]:
    with reading(log.engine) as connection:
        before = everything(connection)
    yield
    with reading(log.engine) as connection:
        assert everything(connection) == before


def everything(connection: sa.Connection) -> list[object]:
    return [connection.execute(sa.select(table)).all() for table in (events, head, tracking)]


def test_positions_count_from_one_without_gaps(log: EventLog) -> None:
    assert append(log, noted("a"), noted("b")) == [1, 2]
    assert append(log, noted("a", 2)) == [3]
    with reading(log.engine) as connection:
        assert log_queries.head_position(connection) == 3


def test_a_failed_append_uses_up_no_position(log: EventLog) -> None:
    append(log, noted("a"))
    with pytest.raises(Conflict):
        append(log, noted("b"), noted("a"))
    assert append(log, noted("b")) == [2]


def test_a_version_is_taken_once(log: EventLog) -> None:
    append(log, noted("a"), noted("a", 2))
    with nothing_changes(log), pytest.raises(Conflict):
        append(log, noted("a", 2))


def test_a_version_cannot_be_left_out(log: EventLog) -> None:
    append(log, noted("a"))
    with nothing_changes(log):
        with pytest.raises(Conflict, match="version 3 of a has none before it"):
            append(log, noted("a", 3))
        with pytest.raises(Conflict, match="version 4 of b cannot follow version 1"):
            append(log, noted("b"), noted("b", 4))
        with pytest.raises(Conflict, match="version 0 of c"):
            append(log, noted("c", 0))


def test_the_number_of_an_erased_newest_event_is_not_given_out_again(log: EventLog) -> None:
    append(log, noted("a"), noted("b"))
    with writing(log.engine) as connection:
        connection.execute(sa.delete(events).where(events.c.position == 2))
    assert append(log, noted("b")) == [3]


def test_a_writer_that_goes_round_the_head_fails_and_hides_nothing(log: EventLog) -> None:
    append(log, noted("a"))
    with writing(log.engine) as connection:
        around = {"position": 2, "stream": "b", "version": 1, "topic": "sample.noted", "state": b"{}"}
        connection.execute(sa.insert(events), around)
    with pytest.raises(Conflict):
        append(log, noted("c"))


def test_a_head_that_is_not_found_fails_instead_of_numbering_from_nothing(log: EventLog) -> None:
    with writing(log.engine) as connection:
        connection.execute(sa.delete(head))
    with pytest.raises(Contended, match="head"):
        append(log, noted("a"))
    with writing(log.engine) as connection, pytest.raises(Unavailable, match="head"):
        log.lock(connection)


def test_a_large_append_is_recorded_in_order(log: EventLog) -> None:
    made = [noted(f"s{number % 7}", number // 7 + 1, str(number)) for number in range(5_000)]
    assert append_all(log, made) == list(range(1, 5_001))
    with reading(log.engine) as connection:
        rows = log_queries.events_after(connection, 0, 10_000)
    assert [log.mapper.read(row) for row in rows] == made


def test_bytes_are_kept_as_they_are(log: EventLog) -> None:
    state = bytes(range(256))
    log.insert_events([StoredEvent("a", 1, "t\tt\\", state), StoredEvent("ü\U0001f511", 1, "\\N", b"")])
    [first, second] = log.select_notifications(None, 10)
    assert (first.topic, first.state) == ("t\tt\\", state)
    assert (second.originator_id, second.topic, second.state) == ("ü\U0001f511", "\\N", b"")


@pytest.mark.postgresql
def test_text_that_cannot_be_stored_is_the_authors_fault(postgresql_log: EventLog) -> None:
    for text in ("a\x00b", "a\ud800b"):
        with pytest.raises(InvalidInput):
            postgresql_log.insert_events([StoredEvent(text, 1, "t", b"{}")])


def test_a_follower_moves_forward_only(log: EventLog) -> None:
    log.insert_tracking(Tracking("f", 5))
    with nothing_changes(log):
        for position in (5, 4):
            with pytest.raises(Conflict):
                log.insert_tracking(Tracking("f", position))
    log.insert_tracking(Tracking("f", 6))
    assert log.max_tracking_id("f") == 6


def test_a_follower_that_names_where_it_comes_from_moves_from_there_only(log: EventLog) -> None:
    with writing(log.engine) as connection:
        log.track(connection, "f", 300, after=0)
    # Another one read from 0 as well, when the log was longer: it would do 1 to 300 a second time.
    for after in (0, 200):
        with pytest.raises(Conflict), writing(log.engine) as connection:
            log.track(connection, "f", 500, after=after)
    with writing(log.engine) as connection:
        log.track(connection, "f", 500, after=300)
        assert log_queries.tracked_position(connection, "f") == 500
        assert log_queries.tracked_position(connection, "g") == 0


def test_events_and_position_are_recorded_together_or_not_at_all(log: EventLog) -> None:
    stored = [log.mapper.to_stored_event(noted("a"))]
    log.insert_events(stored, tracking=Tracking("f", 1))
    with nothing_changes(log), pytest.raises(Conflict):
        log.insert_events(stored, tracking=Tracking("f", 2))
    with nothing_changes(log), pytest.raises(Conflict):
        log.insert_events([log.mapper.to_stored_event(noted("b"))], tracking=Tracking("f", 1))


def test_an_append_in_the_callers_transaction_goes_with_it(log: EventLog) -> None:
    def fail() -> None:
        with writing(log.engine) as connection:
            assert log.insert_events([log.mapper.to_stored_event(noted("a"))], connection=connection) == [1]
            raise ZeroDivisionError

    with nothing_changes(log), pytest.raises(ZeroDivisionError):
        fail()
