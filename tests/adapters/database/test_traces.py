"""Trace rows: one for each entity and occasion, with the last verdict of every rule, for thirty days."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from adapters.database import traces
from adapters.database.engine import writing
from tests.operators import BOOKING, NOON, Event, Operator, event, operator_on, rule, scene


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url) as operator:
        operator.record(*scene(), event("booking.created", BOOKING))
        operator.work()
        yield operator


def change(attendees: int) -> Event:
    return event("booking.changed", {"booking_id": "b1", "attendees": attendees}, at=NOON + timedelta(hours=attendees))


def test_the_rules_of_one_occasion_share_a_row(operator: Operator) -> None:
    rules = [rule(name, "booking.changed", f"booking.attendees above {limit}", once="date") for name, limit in LIMITS]
    operator.save(*rules)
    operator.record(change(5))
    operator.work()
    (row,) = operator.rows(traces.traces)
    assert (row["entity"], row["occasion"], row["event_date"]) == ("booking/b1", "2026-05-04", date(2026, 5, 4))
    assert {name: verdict["failed"]["seen"] for name, verdict in row["verdicts"].items()} == {"nine": 5, "seven": 5}


LIMITS = (("seven", 7), ("nine", 9))


def test_the_last_verdict_of_a_rule_replaces_its_earlier_one_and_no_other(operator: Operator) -> None:
    operator.save(rule("seven", "booking.changed", "booking.attendees above 7", once="date"))
    operator.record(change(5))
    operator.work()
    operator.app.archive_rule("seven", "test")
    operator.save(rule("nine", "booking.changed", "booking.attendees above 9", once="date"))
    operator.record(change(6))
    operator.work()
    operator.record(change(8))
    operator.work()
    (row,) = operator.rows(traces.traces)
    assert {name: verdict["failed"]["seen"] for name, verdict in row["verdicts"].items()} == {"seven": 5, "nine": 8}


def test_a_personal_value_is_kept_by_its_reference(operator: Operator) -> None:
    operator.save(rule("bob", "booking.changed", 'member.name is "Bob"'))
    operator.record(change(5))
    operator.work()
    failed = operator.traces("booking/b1")["bob"]["failed"]
    assert (failed["reference"], "seen" in failed) == ("member/m1/1/name", False)


@pytest.mark.parametrize(("days", "left"), [(30, 1), (31, 0)])
def test_rows_are_dropped_thirty_days_after_they_were_last_seen(operator: Operator, days: int, left: int) -> None:
    operator.save(rule("seven", "booking.changed", "booking.attendees above 7"))
    operator.record(change(5))
    operator.work()
    with writing(operator.app.engine) as connection:
        assert traces.drop_old(connection, NOON.date() + timedelta(days=days)) == 1 - left
    assert len(operator.rows(traces.traces)) == left
