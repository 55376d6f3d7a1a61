"""The past of a rule is counted, and run by a separate act of somebody, never by itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from adapters.database.backfilling import whole_past
from domain.errors import InvalidInput
from domain.moment_ranges import Window
from domain.rules import RuleBackfilled
from tests.engines import Engine, local, told
from tests.operators import BOOKING, Event, Operator, event, operator_on, rule, scene

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url, at=local("2026-05-10 08:00")) as lent:
        lent.record(*scene())
        yield lent


def past_bookings(count: int, **more: object) -> list[Event]:
    """Return so many bookings, an hour each, that ended on the days before 10 May."""
    made = []
    for number in range(count):
        starts_at = local("2026-05-09 10:00") - number * DAY
        times = {"starts_at": starts_at.isoformat(), "ends_at": (starts_at + HOUR).isoformat()}
        made.append(event("booking.created", {**BOOKING, "booking_id": f"b{number}", **times, **more}))
    return made


def backfill(operator: Operator, rule_id: str, window: Window | None = None, by: str = "Ana") -> None:
    engine = Engine(operator)
    act = operator.app.clock_desk().backfill(rule_id, window, engine.worker.owner)
    act.begin(act.counted().matching, by)
    engine.worker.backfill(act, by)
    engine.worker.work_until_idle()


@pytest.mark.slow
def test_trial_58_a_new_rule_leaves_5000_past_bookings_alone_and_says_so(operator: Operator) -> None:
    operator.record(*past_bookings(5_000))
    operator.save(rule("feedback", "booking.ended", after="1 hour"))
    engine = Engine(operator).run_until("2026-05-12 08:00", DAY)
    assert told(operator) == []
    past = operator.app.clock_desk().backfill("feedback").counted()
    assert (past.matching, past.fresh, past.done, past.complete) == (5_000, 5_000, 0, True)
    engine.worker.sweep(whole_past(operator.clock.now()))
    assert told(operator) == []


def test_trial_58_a_backfill_runs_the_past_once_and_keeps_who_did_it(operator: Operator) -> None:
    operator.record(*past_bookings(7))
    operator.save(rule("feedback", "booking.ended", after="1 hour"))
    Engine(operator).run_until("2026-05-10 09:00", HOUR)
    backfill(operator, "feedback")
    assert told(operator, "entity status late version") == [(f"booking/b{n}", "done", True, 1) for n in range(7)]
    (recorded,) = [each for each in operator.events("rule/feedback") if isinstance(each, RuleBackfilled)]
    assert (recorded.by, recorded.found, recorded.up_to) == ("Ana", 7, local("2026-05-10 09:00"))
    past = operator.app.clock_desk().backfill("feedback").counted()
    assert (past.matching, past.done) == (0, 7)
    before = len(operator.events())
    backfill(operator, "feedback")
    Engine(operator).run_until("2026-05-11 09:00", HOUR)
    assert len(operator.events()) == before + 1  # who asked for it the second time


def test_each_run_of_a_backfill_says_who_asked_for_it(operator: Operator) -> None:
    operator.record(*past_bookings(1))
    operator.save(rule("feedback", "booking.ended", after="1 hour"))
    backfill(operator, "feedback")
    (run,) = operator.runs()
    started = operator.events(f"execution-{run['key']}")[0]
    assert getattr(started, "by") == "Ana"  # noqa: B009 - the event's class is of no matter here


def test_a_window_and_the_conditions_say_what_of_the_past_runs(operator: Operator) -> None:
    operator.record(*past_bookings(7), event("booking.changed", {"booking_id": "b2", "attendees": 1}))
    operator.record(event("booking.cancelled", {"booking_id": "b3"}))
    operator.save(rule("feedback", "booking.ended", "booking.attendees at least 2", after="1 hour"))
    window = Window(local("2026-05-05 12:00") - timedelta(microseconds=1), local("2026-05-08 12:00"))
    past = operator.app.clock_desk().backfill("feedback", window).counted()
    assert (past.looked_at, past.matching) == (3, 2)
    backfill(operator, "feedback", window)
    assert told(operator) == [("feedback", "booking/b1", "done"), ("feedback", "booking/b4", "done")]


def test_what_was_missed_is_counted_apart_and_runs_with_the_rest(operator: Operator) -> None:
    operator.save(rule("feedback", "booking.ended", after="1 hour"))
    times = {"starts_at": local("2026-05-11 10:00").isoformat(), "ends_at": local("2026-05-11 11:00").isoformat()}
    operator.record(event("booking.created", {**BOOKING, "booking_id": "b9", **times}), *past_bookings(2))
    Engine(operator).run_until("2026-05-10 09:00", HOUR)
    operator.clock.set(local("2026-05-14 09:00"))
    Engine(operator).tick()
    assert ("feedback", "booking/b9", "missed") in told(operator)
    past = operator.app.clock_desk().backfill("feedback").counted()
    assert (past.fresh, past.unused) == (2, 1)
    backfill(operator, "feedback")
    assert set(told(operator, "status")) == {("done",)}


def test_the_past_of_a_recurring_reminder_is_counted_up_to_now(operator: Operator) -> None:
    about = {"reminder_id": "ana", "member_id": "m1", "about": "Ana", "at": "12:00", "space_id": "mitte"}
    weekly = {**about, "recurrence": "FREQ=WEEKLY", "starts_on": "2026-04-13"}
    operator.record(event("reminder.scheduled", weekly, at=local("2026-04-01 08:00")))
    operator.save(rule("reminders", "reminder.due"))
    assert operator.app.clock_desk().backfill("reminders").counted().matching == 4


def test_counting_can_stop_early_and_says_so(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.database.backfilling.PAGE", 2)
    operator.record(*past_bookings(7))
    operator.save(rule("feedback", "booking.ended", after="1 hour"))
    past = operator.app.clock_desk().backfill("feedback").counted(4)
    assert (past.matching, past.complete) == (4, False)
    whole = operator.app.clock_desk().backfill("feedback").counted(7)
    assert (whole.matching, whole.complete) == (7, True)


def test_only_a_rule_that_the_clock_starts_and_that_is_enabled_has_its_past_run(operator: Operator) -> None:
    operator.save(rule("created", "booking.created"), rule("off", "booking.ended", after="1 hour", enabled=False))
    with pytest.raises(InvalidInput, match=r"started by booking\.created"):
        operator.app.clock_desk().backfill("created").counted()
    assert operator.app.clock_desk().backfill("off").counted().matching == 0
    with pytest.raises(InvalidInput, match="is not enabled"):
        operator.app.clock_desk().backfill("off").begin(0, "Ana")
    with pytest.raises(InvalidInput, match="no rule is called"):
        operator.app.clock_desk().backfill("of").counted()


def test_a_killed_backfill_is_done_again_without_a_repeat(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.database.backfilling.PAGE", 2)
    operator.record(*past_bookings(7))
    operator.save(rule("feedback", "booking.ended", after="1 hour"))
    engine = Engine(operator)
    act = operator.app.clock_desk().backfill("feedback", None, engine.worker.owner)
    next(act.claimed("Ana"))
    operator.clock.advance(timedelta(minutes=5))
    backfill(operator, "feedback")
    assert sum(1 for topic in operator.topics() if topic == "execution.started") == 7
