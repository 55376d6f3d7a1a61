"""Claims: a key is taken once, freed by what had no effect, and not rewound by any edit of its rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from adapters.application import Application, embedded_services
from adapters.database import queue
from adapters.database.claims import QUEUE
from adapters.database.engine import reading
from adapters.database.evaluating import EvaluatingFollower
from adapters.database.follower import BATCH
from adapters.database.projecting import Projector
from adapters.database.readers import projections
from adapters.database.schema import queue as queue_table
from automations.ports import Call, Service
from domain.commands import Command
from domain.endings import Done, Ending, TryLater
from tests.operators import BOOKING, NOON, ZONE, Event, Operator, event, operator_on, rule, scene

HOUR = timedelta(hours=1)


@dataclass(slots=True)
class Scripted:
    """A task service that ends its calls as it is told, `Done` once it has been told nothing more."""

    name: str = "tasks"
    honours_keys: bool = True
    endings: list[Ending] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def perform(self, command: Command, call: Call) -> Ending:
        self.calls.append(call.key)
        return self.endings.pop(0) if self.endings else Done()


@pytest.fixture
def tasks() -> Scripted:
    return Scripted()


@pytest.fixture
def operator(database_url: str, tasks: Scripted) -> Iterator[Operator]:
    def services(application: Application) -> Mapping[str, Service]:
        return {**embedded_services(application), "tasks": tasks}

    with operator_on(database_url, services=services) as operator:
        operator.record(*scene(), event("booking.created", BOOKING))
        yield operator


def change(attendees: int, after: timedelta = timedelta(0), **named: str) -> Event:
    return event("booking.changed", {"booking_id": "b1", "attendees": attendees}, at=NOON + after, **named)


def test_part_payments_and_changes_of_one_day_are_runs_of_their_own(operator: Operator) -> None:
    operator.save(rule("each", "booking.changed"))
    operator.record(change(5), change(6, HOUR))
    assert operator.work().claimed == 2


def test_under_once_date_the_first_of_a_day_runs_and_the_next_leaves_a_trace(operator: Operator) -> None:
    operator.save(rule("daily", "booking.changed", once="date"))
    operator.record(change(5), change(6, HOUR))
    worked = operator.work()
    assert (worked.claimed, worked.kept) == (1, 1)
    assert operator.traces("booking/b1")["daily"]["note"] == "already running on 2026-05-04"
    operator.record(change(7, 2 * HOUR), change(8, timedelta(days=1)))
    worked = operator.work()
    assert (worked.claimed, worked.kept) == (1, 1)
    assert operator.traces("booking/b1")["daily"]["note"] == "already done on 2026-05-04"


def test_under_once_entity_it_runs_once_for_ever(operator: Operator) -> None:
    operator.save(rule("welcome", "booking.changed", once="entity"))
    for day in range(3):
        operator.record(change(day, timedelta(days=day)))
        operator.work()
    assert operator.statuses() == [("welcome", "done")]


def test_renaming_rewording_and_switching_change_no_key(operator: Operator) -> None:
    operator.save(rule("r", "booking.changed", once="entity"))
    operator.record(change(1))
    operator.work()
    operator.save(rule("r", "booking.changed", "booking.attendees at least 1", name="New", once="entity"))
    operator.app.switch_rule("r", "disabled", "test")
    operator.app.switch_rule("r", "enabled", "test")
    operator.record(change(2, HOUR))
    assert operator.work().kept == 1


def test_claims_stand_in_the_queue_leased_to_the_claimer(operator: Operator) -> None:
    operator.save(rule("r", "booking.changed"))
    operator.record(change(1))
    Projector(operator.app.log, projections(ZONE)).catch_up()
    claimed = EvaluatingFollower(operator.app.log, operator.clock, "me", ZONE).follow().claimed
    (row,) = operator.rows(queue_table)
    assert (row["item"], row["owner"], row["attempt"]) == (claimed.running[0].key, "me", 1)
    with reading(operator.app.engine) as connection:
        assert queue.next_due(connection, QUEUE) is None


# --- re-arming ---


def test_a_claim_that_was_skipped_before_any_call_is_taken_up_again(operator: Operator, tasks: Scripted) -> None:
    tasks.endings = [TryLater(reason="busy")]
    operator.save(rule("r", "booking.changed", "booking.attendees above 2", once="date"))
    operator.record(change(5))
    operator.work()
    operator.record(change(1, HOUR))
    operator.clock.advance(timedelta(minutes=1))
    operator.work()
    assert operator.statuses() == [("r", "skipped")]
    operator.record(change(7, 2 * HOUR))
    operator.work()
    (run,) = operator.runs()
    assert (run["status"], run["again_at"]) == ("done", None)
    assert operator.topics(f"execution-{run['key']}").count("execution.rearmed") == 1
    assert set(tasks.calls) == {f"{run['key']}/0"}


def test_a_rearmed_claim_does_what_the_new_wording_says(operator: Operator) -> None:
    operator.save(rule("r", "booking.changed", once="entity", give_up_after="1 hour"))
    operator.record(change(5, -3 * HOUR))
    operator.work()
    assert operator.statuses() == [("r", "missed")]
    twice = [{"create_task": {"title": "one"}}, {"create_task": {"title": "two"}}]
    operator.save(rule("r", "booking.changed", once="entity", give_up_after="1 hour", do=twice))
    operator.record(change(6))
    operator.work()
    (run,) = operator.runs()
    assert (run["status"], run["version"]) == ("done", 2)
    assert operator.topics(f"execution-{run['key']}").count("execution.action-done") == 2


def test_what_was_missed_may_run_in_the_very_same_page(operator: Operator) -> None:
    operator.save(rule("r", "booking.changed", once="date", give_up_after="1 hour"))
    operator.record(change(5, -3 * HOUR), change(6))
    operator.work()
    assert operator.statuses() == [("r", "done")]


def test_what_is_missed_again_is_nothing_new(operator: Operator) -> None:
    operator.save(rule("r", "booking.changed", once="date", give_up_after="1 hour"))
    for attendees in range(3):
        operator.record(change(attendees, -3 * HOUR))
        operator.work()
    (run,) = operator.runs()
    assert operator.topics(f"execution-{run['key']}") == ["execution.started", "execution.ended"]


def test_a_claim_that_failed_before_any_call_keeps_its_key(operator: Operator) -> None:
    operator.save(rule("r", "booking.changed", "booking.extra.code above 5", once="entity"))
    operator.record(event("booking.changed", {"booking_id": "b1", "code": "x"}))
    operator.work()
    operator.record(event("booking.changed", {"booking_id": "b1", "code": "9"}, at=NOON + HOUR))
    operator.work()
    assert operator.statuses() == [("r", "failed")]


# --- a changed `once` ---


def run_once(operator: Operator, once: str, *events: Event) -> int:
    """Save the rule with this `once`, let these events come, and return how many new claims there are."""
    operator.save(rule("r", "booking.changed", once=once))
    operator.record(*events)
    return operator.work().claimed


def test_a_changed_once_does_not_rewind_what_was_done_that_day(operator: Operator) -> None:
    assert run_once(operator, "date", change(1)) == 1
    assert run_once(operator, "event", change(2, HOUR)) == 0
    assert "`once` was changed" in operator.traces("booking/b1")["r"]["note"]


def test_on_other_days_it_means_what_it_says(operator: Operator) -> None:
    assert run_once(operator, "date", change(1)) == 1
    tomorrow = timedelta(days=1)
    assert run_once(operator, "event", change(2, tomorrow), change(3, tomorrow + HOUR)) == 2


def test_under_entity_any_day_counts(operator: Operator) -> None:
    assert run_once(operator, "date", change(1)) == 1
    assert run_once(operator, "entity", change(2, timedelta(days=9))) == 0


def test_going_back_changes_nothing(operator: Operator) -> None:
    assert run_once(operator, "date", change(1)) == 1
    assert run_once(operator, "event", change(2, HOUR)) == 0
    assert run_once(operator, "date", change(3, 2 * HOUR)) == 0


def test_what_had_no_effect_does_not_count(operator: Operator) -> None:
    operator.save(rule("r", "booking.changed", once="date", give_up_after="1 hour"))
    operator.record(change(1, -3 * HOUR))
    operator.work()
    assert operator.statuses() == [("r", "missed")]
    assert run_once(operator, "event", change(2)) == 1


def test_a_change_amid_a_page_counts_though_no_projection_knows_yet(operator: Operator) -> None:
    operator.save(rule("r", "booking.changed", once="date"))
    operator.record(change(1))
    operator.save(rule("r", "booking.changed", once="event"))
    operator.record(change(2, HOUR))
    assert operator.work().claimed == 1


def test_so_does_one_whose_claims_the_projections_have_not_reached(operator: Operator) -> None:
    operator.save(rule("r", "booking.changed", once="date"))
    operator.record(change(1), *(event("coffee.spilt", None) for _ in range(BATCH)))
    operator.save(rule("r", "booking.changed", once="event"))
    operator.record(change(2, HOUR))
    Projector(operator.app.log, projections(ZONE)).catch_up()
    follower = EvaluatingFollower(operator.app.log, operator.clock, "me", ZONE)
    assert [len(follower.follow().claimed.running) for _ in range(2)] == [1, 0]
    assert "`once` was changed" in operator.traces("booking/b1")["r"]["note"]
