"""The followers of a worker: every event once, in order, whoever writes meanwhile and whatever cannot be read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import sqlalchemy as sa

from adapters.database import set_aside
from adapters.database.engine import reading, writing
from adapters.database.evaluating import EvaluatingFollower
from adapters.database.follower import BATCH, SHORTEST, PageReader
from adapters.database.log_queries import head_position, tracked_position
from adapters.database.projecting import FOLLOWER, Projector
from adapters.database.readers import projections
from adapters.database.schema import events
from adapters.ingestion.cloud_events import read_event
from domain.errors import Conflict, CorruptEvent
from projections.bookings import bookings
from projections.executions import executions
from tests.operators import BOOKING, NOON, ZONE, Event, Operator, event, operator_on, rule, scene


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url) as operator:
        operator.record(*scene())
        yield operator


def booked(number: int, **more: Any) -> Event:
    return event("booking.created", {**BOOKING, "booking_id": f"b{number}", **more})


def evaluator(operator: Operator, owner: str = "me") -> EvaluatingFollower:
    return EvaluatingFollower(operator.app.log, operator.clock, owner, ZONE)


def projector(operator: Operator) -> Projector:
    return Projector(operator.app.log, projections(ZONE))


def positions(operator: Operator) -> tuple[int, int, int]:
    with reading(operator.app.engine) as connection:
        head = head_position(connection)
        return head, tracked_position(connection, FOLLOWER), tracked_position(connection, "evaluator")


def test_a_follower_takes_over_page_by_page_and_stops_at_the_head(operator: Operator) -> None:
    operator.record(*(booked(number) for number in range(BATCH)))
    follower, head = projector(operator), BATCH + 3
    assert [follower.follow(), follower.follow(), follower.follow()] == [BATCH, 3, 0]
    assert positions(operator)[:2] == (head, head)
    assert len(operator.rows(bookings)) == BATCH


def test_the_evaluator_never_reads_beyond_the_projections(operator: Operator) -> None:
    operator.record(booked(1))
    follower = evaluator(operator)
    assert follower.follow().events == 0
    projector(operator).catch_up()
    assert follower.follow().events == 4


def test_a_page_is_read_once_for_both_followers(operator: Operator) -> None:
    pages = PageReader(operator.app.log)
    with reading(operator.app.engine) as connection:
        first = pages.read(connection, 0)
        assert pages.read(connection, 0) is first
        assert pages.read(connection, 0, up_to=2).last == 2
        assert pages.read(connection, 3).events == 0


def test_two_followers_of_one_name_take_nothing_over_twice(operator: Operator) -> None:
    operator.save(rule("all", "booking.created"))
    operator.record(*(booked(number) for number in range(20)))
    projector(operator).catch_up()
    one, other = evaluator(operator, "one"), evaluator(operator, "other")
    claimed = [len(one.follow().claimed.running), len(other.follow().claimed.running)]
    projector(operator).catch_up()
    assert claimed == [20, 0]
    assert len(operator.rows(executions)) == 20


def test_of_two_that_read_the_same_page_one_gets_a_conflict(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.save(rule("all", "booking.created"))
    operator.record(booked(1))
    projector(operator).catch_up()
    slow, fast = evaluator(operator, "slow"), evaluator(operator, "fast")
    consider = slow._consider

    def overtaken(*given: Any) -> Any:
        fast.follow()
        return consider(*given)

    monkeypatch.setattr(slow, "_consider", overtaken)
    with pytest.raises(Conflict):
        slow.follow()
    assert operator.topics().count("execution.started") == 1


def test_facts_that_change_between_the_look_and_the_claim_are_looked_at_again(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.save(rule("big", "booking.created", "booking.attendees above 2"))
    operator.record(booked(1, attendees=4))
    projector(operator).catch_up()
    follower = evaluator(operator)
    consider = follower._consider

    def meanwhile(*given: Any) -> Any:
        found = consider(*given)
        operator.record(event("booking.changed", {"booking_id": "b1", "attendees": 1}, at=NOON.replace(hour=13)))
        return found

    with monkeypatch.context() as patched:
        patched.setattr(follower, "_consider", meanwhile)
        with pytest.raises(Conflict, match="booking/b1"):
            follower.follow()
    assert len(follower.follow().claimed.running) == 0
    assert operator.traces("booking/b1")["big"]["failed"]["seen"] == 1


def test_a_page_whose_facts_keep_changing_gets_shorter_until_one_gets_through(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.save(rule("all", "booking.created", "booking.attendees above 2"))
    operator.record(*(booked(number, attendees=4) for number in range(SHORTEST * 3)))
    projector(operator).catch_up()
    follower = evaluator(operator)
    consider, minutes = follower._consider, iter(range(60))

    def meanwhile(connection: Any, entities: Any, page: Any, at: Any) -> Any:
        """Change the hundredth booking whenever a page with it was looked at, as a busy space would."""
        found = consider(connection, entities, page, at)
        if any(fact.stream == "booking/b99" for fact in page.facts):
            told = {"booking_id": "b99", "attendees": 5}
            operator.record(event("booking.changed", told, at=NOON.replace(hour=13, minute=next(minutes))))
        return found

    monkeypatch.setattr(follower, "_consider", meanwhile)
    lengths = []
    for _ in range(6):
        with suppress(Conflict):
            lengths.append(follower.follow().events)
    assert lengths[0] == SHORTEST  # all before the busy one
    assert sum(lengths) >= SHORTEST


def test_a_change_of_what_nobody_looked_at_is_no_conflict(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    operator.save(rule("big", "booking.created", "booking.attendees above 2"))
    operator.record(booked(1, attendees=4))
    projector(operator).catch_up()
    follower = evaluator(operator)
    consider = follower._consider

    def meanwhile(*given: Any) -> Any:
        found = consider(*given)
        operator.record(booked(2), event("space.changed", {"space_id": "mitte", "name": "M"}))
        return found

    monkeypatch.setattr(follower, "_consider", meanwhile)
    assert len(follower.follow().claimed.running) == 1


def test_with_a_writer_at_work_every_event_is_seen_once(operator: Operator) -> None:
    operator.save(rule("all", "booking.created"))
    recorder = operator.app.recorder()

    def write() -> None:
        for start in range(0, 120, 6):
            batch = [read_event(booked(number)) for number in range(start, start + 6)]
            operator.app.record(recorder, batch)

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        operator.work()
    writer.join()
    operator.work()
    assert operator.topics().count("execution.started") == 120
    assert len(operator.rows(bookings)) == 120
    assert {run["status"] for run in operator.runs()} == {"done"}
    head, projected, evaluated = positions(operator)
    assert head == projected == evaluated


# --- what cannot be read ---


def spoil(operator: Operator, stream: str, version: int = 1) -> None:
    """Make a stored event unreadable."""
    place = (events.c.stream == stream) & (events.c.version == version)
    with writing(operator.app.engine) as connection:
        connection.execute(sa.update(events).where(place).values(state=b'{"at":"never"}'))


def aside(operator: Operator) -> list[tuple[str, int, str]]:
    with reading(operator.app.engine) as connection:
        return [(row["stream"], row["version"], row["topic"]) for row in set_aside.listed(connection)]


def test_an_event_that_cannot_be_read_is_set_aside_and_stops_only_its_stream(operator: Operator) -> None:
    operator.save(rule("all", "booking.created"), rule("change", "booking.changed"))
    operator.record(booked(1), booked(2), event("booking.changed", {"booking_id": "b1", "attendees": 9}))
    spoil(operator, "booking/b1")
    operator.work()
    assert aside(operator) == [("booking/b1", 1, "booking.created")]
    assert [(run["rule"], run["entity"], run["status"]) for run in operator.runs()] == [
        ("all", "booking/b2", "done"),
        ("change", "booking/b1", "failed"),
    ]
    assert "cannot be read" in operator.runs(rule="change")[0]["reason"]
    with pytest.raises(CorruptEvent):
        operator.state("booking/b1")


def test_what_refers_to_it_fails_alone(operator: Operator) -> None:
    operator.save(rule("kind", "booking.created", "resource.kind is meeting_room"))
    operator.record(event("resource.added", {"resource_id": "r2", "space_id": "mitte", "kind": "desk", "name": "D"}))
    operator.record(booked(1), booked(2, resource_id="r2"))
    spoil(operator, "resource/r2")
    operator.work()
    assert operator.statuses() == [("kind", "done"), ("kind", "failed")]


def test_a_rule_that_cannot_be_read_stops_only_itself(operator: Operator) -> None:
    operator.save(rule("good", "booking.created"), rule("bad", "booking.created"))
    operator.save(rule("bad", "booking.created", name="another name"))
    spoil(operator, "rule/bad", 3)
    operator.record(booked(1))
    operator.work()
    assert aside(operator) == [("rule/bad", 3, "rule.revised")]
    assert operator.statuses() == [("bad", "failed"), ("good", "done")]
    operator.save(rule("bad", "booking.created", name="mended"))
    operator.record(booked(2))
    operator.work()
    assert operator.statuses(entity="booking/b2") == [("bad", "done"), ("good", "done")]


def test_an_execution_that_cannot_be_read_keeps_its_key(operator: Operator) -> None:
    operator.save(rule("once", "booking.changed", once="entity"))
    operator.record(booked(1), event("booking.changed", {"booking_id": "b1", "attendees": 5}))
    operator.work()
    stream = next(found.stream for found in operator.events() if found.topic == "execution.started")
    spoil(operator, stream)
    operator.record(event("booking.changed", {"booking_id": "b1", "attendees": 6}))
    operator.work()
    assert "cannot be read" in operator.traces("booking/b1")["once"]["note"]
    with reading(operator.app.engine) as connection:
        begun = connection.scalar(sa.select(sa.func.count()).where(events.c.topic == "execution.started"))
    assert begun == 1


def test_recording_goes_on_beside_a_stream_that_cannot_be_read(operator: Operator) -> None:
    operator.record(booked(1))
    spoil(operator, "booking/b1")
    fresh = operator.app.recorder()
    with pytest.raises(CorruptEvent):
        operator.app.record(fresh, [read_event(event("booking.changed", {"booking_id": "b1", "attendees": 5}))])
    assert operator.app.record(fresh, [read_event(booked(2))])[0].status == "accepted"


def test_emptied_projections_fill_up_to_the_same(operator: Operator) -> None:
    operator.save(rule("all", "booking.created"))
    operator.record(*(booked(number) for number in range(5)))
    operator.work()
    before = operator.rows(bookings), operator.rows(executions)
    rebuilt = projector(operator)
    rebuilt.empty()
    assert operator.rows(bookings) == operator.rows(executions) == []
    rebuilt.catch_up()
    assert (operator.rows(bookings), operator.rows(executions)) == before
    assert operator.work().claimed == 0
