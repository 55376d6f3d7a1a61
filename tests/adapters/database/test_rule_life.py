"""The life of a rule, as the clock sees it: disabled, enabled again, archived."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

import pytest

from adapters.application import Application, embedded_services
from adapters.database.engine import reading
from automations.clock_evaluator import MISSED_WHILE_DISABLED
from automations.ports import Call, Service
from domain.commands import Command
from domain.endings import Done, TryLater
from projections.executions import counted
from tests.engines import Engine, local, told
from tests.operators import BOOKING, Event, Operator, event, operator_on, rule, scene

HOUR = timedelta(hours=1)


class Closed:
    """A service of tasks that cannot be reached."""

    name = "tasks"
    honours_keys = True

    def perform(self, command: Command, call: Call) -> Done | TryLater:
        return TryLater(reason="closed")


def without_tasks(application: Application) -> Mapping[str, Service]:
    return {**embedded_services(application), "tasks": Closed()}


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url, at=local("2026-05-10 08:00")) as lent:
        lent.record(*scene())
        yield lent


@pytest.fixture
def struggling(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url, at=local("2026-05-10 08:00"), services=without_tasks) as lent:
        lent.record(*scene())
        yield lent


def booking(identifier: str, starts_at: str) -> Event:
    start = local(starts_at)
    times = {"starts_at": start.isoformat(), "ends_at": (start + HOUR).isoformat()}
    return event("booking.created", {**BOOKING, "booking_id": identifier, **times})


def test_trial_56_what_falls_due_while_a_rule_is_disabled_is_missed_and_the_next_one_runs(operator: Operator) -> None:
    operator.save(rule("remind", "booking.starting", before="24 hours"))
    operator.record(booking("b1", "2026-05-12 10:00"), booking("b9", "2026-05-13 09:00"))
    engine = Engine(operator).run_until("2026-05-10 12:00", HOUR)
    operator.app.switch_rule("remind", "disabled", by="Ana")
    engine.run_until("2026-05-11 18:00", HOUR)
    operator.app.switch_rule("remind", "enabled", by="Ana")
    engine.run_until("2026-05-12 10:00", HOUR)
    assert told(operator, "entity status reason") == [
        ("booking/b1", "missed", MISSED_WHILE_DISABLED),
        ("booking/b9", "done", ""),
    ]
    with reading(operator.app.engine) as connection:
        assert counted(connection, "remind") == {"missed": 1, "done": 1}
        assert counted(connection, "remind", MISSED_WHILE_DISABLED) == {"missed": 1}
        assert counted(connection, "other") == {}


def test_waiting_runs_of_an_archived_rule_are_cancelled_at_once_with_that_reason(struggling: Operator) -> None:
    struggling.save(rule("remind", "booking.starting", before="24 hours"), rule("other", "booking.created"))
    struggling.record(booking("b1", "2026-05-11 10:00"))
    engine = Engine(struggling).run_until("2026-05-10 11:00", HOUR)
    assert dict(struggling.statuses()) == {"other": "waiting", "remind": "waiting"}
    struggling.app.archive_rule("remind", by="Ana")
    engine.worker.work_until_idle()
    (run,) = struggling.runs(rule="remind")
    assert (run["status"], run["reason"], run["at"]) == ("cancelled", "the rule is archived", struggling.clock.now())
    assert dict(struggling.statuses())["other"] == "waiting"


def test_an_archived_rule_finds_nothing_any_more_and_its_runs_name_their_version(operator: Operator) -> None:
    operator.save(rule("remind", "booking.starting", before="24 hours"))
    operator.record(
        booking("b1", "2026-05-11 10:00"), booking("b2", "2026-05-12 10:00"), booking("b3", "2026-05-13 10:00")
    )
    engine = Engine(operator).run_until("2026-05-10 11:00", HOUR)
    operator.save(rule("remind", "booking.starting", before="24 hours", name="Another name"))
    engine.run_until("2026-05-11 11:00", HOUR)
    operator.app.archive_rule("remind", by="Ana")
    engine.run_until("2026-05-13 11:00", HOUR)
    assert told(operator, "entity status version") == [("booking/b1", "done", 1), ("booking/b2", "done", 2)]


def test_a_rule_that_is_enabled_again_looks_ahead_only(operator: Operator) -> None:
    operator.save(rule("remind", "booking.starting", before="24 hours"))
    operator.record(booking("b1", "2026-05-11 10:00"))
    engine = Engine(operator)
    engine.tick()
    operator.app.switch_rule("remind", "disabled", by="Ana")
    operator.clock.set(local("2026-05-10 11:00"))
    operator.app.switch_rule("remind", "enabled", by="Ana")
    engine.run_until("2026-05-11 11:00", HOUR)
    assert ("booking/b1", "done") not in told(operator, "entity status")
