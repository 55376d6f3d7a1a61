"""Counts of a projection: for a whole page in one question, and up to the log's head where that matters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from adapters.database import counts
from adapters.database.counts import ProjectedCounts, StoredCounts
from adapters.database.engine import reading
from adapters.database.facts import EntityCache
from adapters.database.projecting import Projector
from adapters.database.readers import projections
from domain.errors import Unavailable
from tests.operators import BOOKING, NOON, ZONE, Event, Operator, event, operator_on, rule, scene


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url) as operator:
        operator.record(*scene(), *(booked(day) for day in (10, 12, 14)))
        Projector(operator.app.log, projections(ZONE)).catch_up()
        yield operator


def booked(day: int, **more: object) -> Event:
    span = {"starts_at": f"2026-05-{day}T10:00:00+02:00", "ends_at": f"2026-05-{day}T12:00:00+02:00"}
    return event("booking.created", {**BOOKING, "booking_id": f"b{day}", **span, **more})


def projected(operator: Operator, *days: int) -> list[int]:
    with reading(operator.app.engine) as connection:
        entities = EntityCache(operator.app.log.mapper).at_head(connection)
        entities.prepare(f"booking/b{day}" for day in days)
        found = ProjectedCounts(connection, entities)
        return [found.bookings_before("m1", entities.get(f"booking/b{day}")) for day in days]


def at_head(operator: Operator, day: int) -> int:
    with reading(operator.app.engine) as connection:
        entities = EntityCache(operator.app.log.mapper).at_head(connection)
        return StoredCounts(connection, entities).bookings_before("m1", entities.get(f"booking/b{day}"))


def test_what_starts_before_is_counted_for_all_bookings_at_hand(operator: Operator) -> None:
    assert projected(operator, 14, 10, 12) == [2, 0, 1]


def test_other_members_cancelled_bookings_and_the_booking_itself_do_not_count(operator: Operator) -> None:
    operator.record(booked(11, member_id="m2"), event("booking.cancelled", {"booking_id": "b10"}))
    Projector(operator.app.log, projections(ZONE)).catch_up()
    assert projected(operator, 14, 12) == [1, 0]
    assert [at_head(operator, day) for day in (14, 12)] == [1, 0]


def test_whole_days_count_from_their_beginning(operator: Operator) -> None:
    operator.record(booked(12, booking_id="whole", starts_at="2026-05-12", ends_at="2026-05-12", all_day=True))
    Projector(operator.app.log, projections(ZONE)).catch_up()
    assert projected(operator, 12) == [2]


def test_what_the_projection_does_not_know_yet_is_counted_from_the_log(operator: Operator) -> None:
    operator.record(booked(11), booked(13, member_id="m2"))
    operator.record(event("booking.cancelled", {"booking_id": "b10"}, at=NOON + timedelta(hours=1)))
    later = {"booking_id": "b12", "starts_at": "2026-05-20T10:00:00Z", "ends_at": "2026-05-20T11:00:00Z"}
    operator.record(event("booking.changed", later, at=NOON + timedelta(hours=1)))
    behind = at_head(operator, 14)
    Projector(operator.app.log, projections(ZONE)).catch_up()
    assert (behind, at_head(operator, 14)) == (1, 1)


def test_too_far_behind_it_says_so(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "FURTHEST_BEHIND", 1)
    operator.record(booked(11), booked(13))
    with pytest.raises(Unavailable, match="2 events behind"):
        at_head(operator, 14)


def test_the_first_booking_is_told_from_later_ones_whatever_was_recorded_first(operator: Operator) -> None:
    operator.save(rule("first", "booking.created", "member.bookings_before below 1"))
    operator.record(booked(22, member_id="m3"), booked(21, member_id="m3"))
    operator.work()
    assert [(run["entity"], run["status"]) for run in operator.runs()] == [("booking/b21", "done")]
