"""Clock triggers pause where the clock or the database is not what it was, and ask staff."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from adapters.database import meta
from adapters.database.engine import writing
from tests.engines import Engine, local, notices, told
from tests.operators import BOOKING, INVOICE, Event, Operator, event, operator_on, rule, scene

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url, at=local("2026-05-10 08:00")) as lent:
        lent.record(*scene(), event("booking.created", BOOKING))
        lent.save(rule("remind", "booking.starting", before="24 hours"), rule("look", "booking.changed"))
        yield lent


def change(operator: Operator, **fields: object) -> None:
    operator.record(event("booking.changed", {"booking_id": "b1", **fields}, at=operator.clock.now()))


def position(operator: Operator) -> int:
    return len(operator.events())


def test_a_jump_of_the_clock_pauses_clock_triggers_and_asks_staff_once(operator: Operator) -> None:
    engine = Engine(operator).run_until("2026-05-10 10:00", HOUR)
    operator.clock.jump(local("2027-05-10 10:00"))
    engine.run_until("2027-05-10 12:00", HOUR)
    assert told(operator) == []
    ((kind, payload),) = notices(operator)
    assert (kind, payload["reason"]) == ("semel.paused", "clock jumped")
    assert payload["text"] == "the clock was set ahead by 365 days, to 2027-05-10 08:00 UTC"
    assert operator.app.clock_desk().paused() == payload["text"]


def test_nothing_expires_by_a_jump_that_somebody_puts_right(operator: Operator) -> None:
    engine = Engine(operator).run_until("2026-05-10 10:00", HOUR)
    operator.clock.jump(local("2027-05-10 10:00"))
    engine.run_until("2027-05-10 11:00", HOUR)
    operator.clock.jump(local("2026-05-10 11:00"))
    operator.app.clock_desk().resume(by="Ana")
    engine.run_until("2026-05-12 12:00", HOUR)
    assert told(operator, "rule status late at") == [("remind", "done", False, local("2026-05-11 10:00"))]


def test_a_jump_of_just_the_limit_is_no_reason_to_pause(operator: Operator) -> None:
    engine = Engine(operator).run_until("2026-05-10 10:00", HOUR)
    operator.clock.jump(local("2026-05-11 10:00"))
    engine.tick()
    assert told(operator) == [("remind", "booking/b1", "done")]
    assert operator.app.clock_desk().paused() is None


def test_how_far_the_clock_may_jump_is_a_setting(database_url: str) -> None:
    with operator_on(database_url, at=local("2026-05-10 08:00"), longest_jump_hours=2) as operator:
        engine = Engine(operator)
        engine.tick()
        operator.clock.jump(local("2026-05-10 10:30"))
        engine.tick()
        assert operator.app.clock_desk().paused() is not None


def test_events_start_rules_all_the_while(operator: Operator) -> None:
    engine = Engine(operator).run_until("2026-05-10 10:00", HOUR)
    operator.clock.jump(local("2027-05-10 10:00"))
    engine.tick()
    change(operator, attendees=7)
    engine.tick()
    assert told(operator) == [("look", "booking/b1", "done")]


def test_staff_see_what_would_run_and_then_let_it(operator: Operator) -> None:
    operator.save(rule("week", "booking.starting", before="7 days"), rule("dunning", "invoice.overdue", after="2 days"))
    operator.record(event("invoice.issued", {**INVOICE, "due_on": "2026-05-11"}, at=operator.clock.now()))
    engine = Engine(operator).run_until("2026-05-10 10:00", HOUR)
    operator.clock.jump(local("2026-05-14 10:00"))
    engine.tick()
    before = position(operator)
    found = {each.rule: (each.runs, each.late, each.missed) for each in operator.app.clock_desk().expected()}
    assert found == {"remind": (0, 0, 1), "dunning": (1, 1, 0)}
    assert position(operator) == before
    operator.app.clock_desk().resume(by="Ana")
    assert operator.app.clock_desk().paused() is None
    engine.tick()
    assert ("remind", "booking/b1", "missed") in told(operator)
    assert ("dunning", "invoice/i1", "done") in told(operator)
    assert operator.app.clock_desk().expected() == []


def test_another_process_does_not_ask_again_about_a_jump_that_was_accepted(operator: Operator) -> None:
    first, second = Engine(operator).run_until("2026-05-10 10:00", HOUR), Engine(operator)
    second.tick()
    operator.clock.jump(local("2026-05-20 10:00"))
    first.tick()
    operator.clock.advance(timedelta(seconds=5))
    operator.app.clock_desk().resume(by="Ana")
    operator.clock.advance(timedelta(seconds=5))
    second.tick()
    assert operator.app.clock_desk().paused() is None
    assert len(notices(operator)) == 2  # the pause, and what was missed meanwhile


def test_a_second_jump_is_asked_about_as_well(operator: Operator) -> None:
    engine = Engine(operator).run_until("2026-05-10 10:00", HOUR)
    for _ in range(2):
        operator.clock.jump(operator.clock.now() + 2 * DAY)
        engine.tick()
        operator.clock.advance(timedelta(seconds=1))
        operator.app.clock_desk().resume(by="Ana")
    assert [kind for kind, _ in notices(operator)] == ["semel.paused", "semel.paused"]


def test_a_clock_that_is_set_back_repeats_nothing_and_is_warned_about(operator: Operator) -> None:
    engine = Engine(operator).run_until("2026-05-11 12:00", HOUR)
    operator.clock.jump(local("2026-05-11 08:00"))
    with capture_logs() as logs:
        engine.run_until("2026-05-11 13:00", HOUR)
    assert [(log["event"], log["log_level"]) for log in logs if log["event"].startswith("clock.")] == [
        ("clock.set-back", "warning")
    ]
    assert told(operator, "rule status at") == [("remind", "done", local("2026-05-11 10:00"))]


def test_what_is_recorded_on_a_clock_that_was_set_back_runs_in_its_time(operator: Operator) -> None:
    engine = Engine(operator).run_until("2026-05-11 12:00", HOUR)
    operator.clock.jump(local("2026-05-11 08:00"))
    times = {"starts_at": local("2026-05-12 11:00").isoformat(), "ends_at": local("2026-05-12 13:00").isoformat()}
    late: Event = {**BOOKING, "booking_id": "b2", **times}
    operator.record(event("booking.created", late, at=operator.clock.now()))
    engine.run_until("2026-05-11 13:00", HOUR)
    assert ("booking/b2", local("2026-05-11 11:00")) in told(operator, "entity at")


def test_an_outage_of_four_weeks_is_caught_up_and_one_of_more_than_thirty_days_is_asked_about(
    operator: Operator,
) -> None:
    operator.save(rule("dunning", "invoice.overdue", after="2 days"))
    operator.record(event("invoice.issued", {**INVOICE, "due_on": "2026-06-01"}, at=operator.clock.now()))
    Engine(operator).run_until("2026-05-10 10:00", HOUR)
    operator.clock.set(local("2026-06-08 10:00"))
    Engine(operator).tick()
    assert ("dunning", "invoice/i1", "done") in told(operator)
    operator.clock.set(local("2026-07-09 10:01"))
    engine = Engine(operator)
    engine.tick()
    assert [(kind, payload["reason"]) for kind, payload in notices(operator) if kind == "semel.paused"] == [
        ("semel.paused", "long outage")
    ]
    operator.app.clock_desk().resume(by="Ana")
    Engine(operator).tick()
    assert operator.app.clock_desk().paused() is None


def test_a_database_that_has_rested_without_rules_asks_nobody(database_url: str) -> None:
    with operator_on(database_url, at=local("2026-01-01 08:00")) as operator:
        operator.clock.set(local("2026-05-10 08:00"))
        operator.record(*scene(), event("booking.created", BOOKING))
        operator.save(rule("remind", "booking.starting", before="24 hours"))
        Engine(operator).run_until("2026-05-11 12:00", HOUR)
        assert told(operator) == [("remind", "booking/b1", "done")]
        assert notices(operator) == []


def test_a_restored_database_starts_paused_until_staff_take_it_for_the_original(postgresql_url: str) -> None:
    with operator_on(postgresql_url, at=local("2026-05-10 08:00")) as operator:
        operator.record(*scene(), event("booking.created", BOOKING))
        operator.save(rule("remind", "booking.starting", before="24 hours"))
        Engine(operator).run_until("2026-05-10 10:00", HOUR)
        with writing(operator.app.engine) as connection:
            meta.remember(connection, meta.IDENTITY, "cluster 1 database 1")
        operator.clock.set(local("2026-05-11 11:00"))
        engine = Engine(operator)
        engine.tick()
        assert told(operator) == []
        assert [payload["reason"] for _, payload in notices(operator)] == ["restored"]
        assert [(each.rule, each.runs, each.late) for each in operator.app.clock_desk().expected()] == [
            ("remind", 1, 1)
        ]
        operator.app.clock_desk().resume(by="Ana")
        engine.tick()
        assert told(operator) == [("remind", "booking/b1", "done")]
        Engine(operator).tick()
        assert operator.app.clock_desk().paused() is None
