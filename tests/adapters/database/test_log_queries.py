"""What the engine asks the log."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from tests.adapters.database.samples import append, append_all, noted


@pytest.fixture
def asking(log: EventLog) -> Iterator[sa.Connection]:
    """A reading transaction over a log of ten events in three streams: b2 a1 a2 b1 a3 and so on."""
    append(log, noted("booking/b2"), noted("a"), noted("a", 2), noted("booking/b1"), noted("a", 3))
    append(log, noted("booking/b2", 2), noted("a", 4), noted("booking/b2", 3), noted("A"), noted("a0"))
    with reading(log.engine) as connection:
        yield connection


def places(rows: list[log_queries.StoredRow]) -> list[tuple[str, int]]:
    return [(row.stream, row.version) for row in rows]


def test_events_after_a_position_come_in_order(asking: sa.Connection) -> None:
    rows = log_queries.events_after(asking, 3, 2)
    assert [(row.position, row.stream, row.version) for row in rows] == [(4, "booking/b1", 1), (5, "a", 3)]
    assert [row.position for row in log_queries.events_after(asking, 8, 100)] == [9, 10]
    assert [row.position for row in log_queries.events_after(asking, 3, 100, up_to=5)] == [4, 5]
    assert log_queries.events_after(asking, 10, 100) == []


def test_streams_come_whole_and_in_order(asking: sa.Connection) -> None:
    rows = log_queries.streams(asking, ["booking/b2", "a", "missing", "a"])
    assert places(rows) == [("a", 1), ("a", 2), ("a", 3), ("a", 4)] + [("booking/b2", version) for version in (1, 2, 3)]


def test_only_newer_versions_come_where_a_version_is_known(asking: sa.Connection) -> None:
    known = {"a": 3, "booking/b1": 1, "never-asked": 1}
    rows = log_queries.streams(asking, ["a", "booking/b1", "booking/b2"], known)
    assert places(rows) == [("a", 4), ("booking/b2", 1), ("booking/b2", 2), ("booking/b2", 3)]


def test_last_versions_of_existing_streams(asking: sa.Connection) -> None:
    assert log_queries.last_versions(asking, ["a", "booking/b1", "missing"]) == {"a": 4, "booking/b1": 1}


def test_existing_streams_and_versions(asking: sa.Connection) -> None:
    assert log_queries.existing_streams(asking, ["a", "A", "missing", "booking/b"]) == {"a", "A"}
    assert log_queries.existing_versions(asking, {"a": 4, "booking/b2": 4, "A": 1}) == {"a", "A"}


def test_streams_touched_between_two_positions(asking: sa.Connection) -> None:
    assert log_queries.touched_between(asking, 3, 5) == {"booking/b1", "a"}
    assert log_queries.touched_between(asking, 10, 99) == set()


def test_nothing_asked_is_nothing_found(asking: sa.Connection) -> None:
    assert log_queries.streams(asking, []) == []
    assert log_queries.last_versions(asking, iter(())) == {}
    assert log_queries.existing_streams(asking, []) == set()


@pytest.mark.parametrize("odd", ["quo'te", 'dou"ble', "back\\slash", "{brace}", "ü\U0001f511", "a,b", "null", ""])
def test_any_text_can_be_a_stream(log: EventLog, odd: str) -> None:
    append(log, noted(odd), noted(odd, 2))
    with reading(log.engine) as connection:
        assert places(log_queries.streams(connection, [odd], {odd: 1})) == [(odd, 2)]
        assert log_queries.last_versions(connection, [odd]) == {odd: 2}


def test_thousands_of_streams_are_asked_for_in_chunks(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_queries, "CHUNK", 7)
    names = [f"s{number}" for number in range(30)]
    append_all(log, map(noted, names))
    with reading(log.engine) as connection:
        assert log_queries.existing_streams(connection, names) == set(names)
        assert len(log_queries.streams(connection, names)) == 30


def test_an_empty_log_answers(log: EventLog) -> None:
    with reading(log.engine) as connection:
        assert log_queries.head_position(connection) == 0
        assert log_queries.events_after(connection, 0, 10) == []
