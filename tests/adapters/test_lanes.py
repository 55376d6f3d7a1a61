"""A service that is away costs no attempts: what is due there waits, and one call a minute asks for all."""

from __future__ import annotations

from datetime import timedelta

import pytest

from automations.ports import Call
from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown
from tests.operators import BOOKING, Operator, event, operator_on, rule, scene
from tests.scripted import ScriptedService

MANY = 20
AWAY, DENIED = TryLater(reason="away"), Misconfigured(reason="401")


def booking(number: int, **changes: object) -> dict[str, object]:
    return {**BOOKING, "booking_id": f"b{number}", **changes}


def begin(operator: Operator, many: int = MANY) -> None:
    """Let so many bookings be made, each of which asks for a task."""
    operator.save(rule("task", "booking.created"))
    operator.record(*scene(), *(event("booking.created", booking(number)) for number in range(many)))
    operator.work()


def pass_minutes(operator: Operator, minutes: float) -> None:
    """Let time pass in steps of ten seconds, and the engine work at each."""
    worker = operator.app.worker()
    for _ in range(round(minutes * 6)):
        operator.clock.advance(timedelta(seconds=10))
        worker.work_until_idle()


def attempts(operator: Operator) -> set[int]:
    operator.follow()
    return {run["attempt"] for run in operator.runs()}


def statuses(operator: Operator) -> dict[str, int]:
    operator.follow()
    counted: dict[str, int] = {}
    for run in operator.runs():
        counted[run["status"]] = counted.get(run["status"], 0) + 1
    return counted


def test_a_service_that_denies_us_is_asked_once_and_then_once_a_minute(database_url: str) -> None:
    """Trial C6: credentials are wrong for ten minutes, and nothing is lost by it."""
    tasks = ScriptedService("tasks", answer=DENIED)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator)
        assert (len(tasks.calls), statuses(operator)) == (1, {"waiting": MANY})
        pass_minutes(operator, 10)
        assert (len(tasks.calls), statuses(operator), attempts(operator)) == (11, {"waiting": MANY}, {1})
        assert len(tasks.counted) == 10, "each time another one asks, once all have had to wait"
        tasks.answer = Done()
        pass_minutes(operator, 1)
        assert (statuses(operator), attempts(operator)) == ({"done": MANY}, {1})
        assert len(tasks.calls) == 11 + MANY


def test_a_circuit_opens_after_five_failures_in_a_row(database_url: str) -> None:
    tasks = ScriptedService("tasks", answer=AWAY)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator)
        assert len(tasks.calls) == 5
        assert operator.topics("lane/tasks") == ["lane.held"]
        held = [event for event in operator.events() if event.topic == "execution.held"]
        assert len(held) == MANY - 5
        pass_minutes(operator, 3)
        assert (len(tasks.calls), statuses(operator)) == (8, {"waiting": MANY})
        assert [event for event in operator.events() if event.topic == "execution.held"] == held
        tasks.answer = Done()
        pass_minutes(operator, 1)
        assert statuses(operator) == {"done": MANY}
        assert operator.topics("lane/tasks") == ["lane.held", "lane.recovered"]
        assert attempts(operator) == {1, 2}, "what had been tried once is tried again, and no more than that"


@pytest.mark.parametrize("answer", [Done(), Refused(reason="no")], ids=["done", "refused"])
def test_any_answer_lets_the_rest_through_at_once(database_url: str, answer: Ending) -> None:
    tasks = ScriptedService("tasks", answer=DENIED)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator)
        operator.clock.advance(timedelta(minutes=1))
        tasks.answer = answer
        operator.work()
        assert sum(statuses(operator).values()) == statuses(operator)[{"refused": "failed"}.get(answer.kind, "done")]


def test_a_time_out_of_a_service_that_knows_keys_opens_the_circuit_too(database_url: str) -> None:
    tasks = ScriptedService("tasks", answer=Unknown(reason="timed out"))
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator)
        pass_minutes(operator, 10)
        assert (statuses(operator), max(attempts(operator)) <= 2) == ({"waiting": MANY}, True)
        tasks.answer = Done()
        pass_minutes(operator, 1)
        assert statuses(operator) == {"done": MANY}


def test_services_that_work_go_on_while_another_is_away(database_url: str) -> None:
    tasks = ScriptedService("tasks", answer=DENIED)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        operator.save(rule("fee", "booking.created", do=[{"charge_fee": {"amount": "1 EUR", "reason": "desk"}}]))
        begin(operator)
        assert sorted(set(operator.statuses())) == [("fee", "done"), ("task", "waiting")]


def test_what_is_not_wanted_any_more_is_skipped_and_the_next_one_asks(database_url: str) -> None:
    """The re-check comes before the call, also before the one that a held lane lets through."""
    tasks = ScriptedService("tasks", answer=DENIED)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, 4)
        waiting = {run["entity"] for run in operator.runs()}
        operator.record(*(event("booking.cancelled", {"booking_id": f"b{number}"}) for number in (0, 1, 2)))
        pass_minutes(operator, 4)
        assert statuses(operator) == {"skipped": 3, "waiting": 1}
        assert waiting == {f"booking/b{number}" for number in range(4)}
        tasks.answer = Done()
        pass_minutes(operator, 1)
        assert statuses(operator) == {"skipped": 3, "done": 1}


def test_a_service_that_asks_for_a_pause_gets_it_from_everybody(database_url: str) -> None:
    """Trial C1: too many requests, once; nobody calls again within the minute asked for, and nothing is held."""
    busy = TryLater(reason="429", wait=timedelta(seconds=60))
    tasks = ScriptedService("tasks", answer=busy)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator)
        tasks.answer = Done()
        assert len(tasks.calls) == 1
        pass_minutes(operator, 5 / 6)
        assert len(tasks.calls) == 1
        pass_minutes(operator, 1 / 6)
        assert (len(tasks.calls), statuses(operator)) == (1 + MANY, {"done": MANY})
        assert max(tasks.counted.values()) == 2
        assert operator.topics("lane/tasks") == []


def test_single_failures_between_answers_hold_nothing(database_url: str) -> None:
    numbers = iter(range(1000))

    def now_and_then(call: Call) -> Ending | None:
        return AWAY if next(numbers) % 2 else Done()

    tasks = ScriptedService("tasks", during=now_and_then)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator)
        pass_minutes(operator, 30)
        assert statuses(operator) == {"done": MANY}
        assert operator.topics("lane/tasks") == []


def test_a_worker_that_dies_while_it_asks_leaves_the_lane_to_others(database_url: str) -> None:
    tasks = ScriptedService("tasks", answer=DENIED)

    def die(call: Call) -> None:
        raise KeyboardInterrupt

    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator)
        operator.clock.advance(timedelta(minutes=1))
        tasks.during = die
        with pytest.raises(KeyboardInterrupt):
            operator.work()
        tasks.during, tasks.answer = lambda call: None, Done()
        pass_minutes(operator, 3)
        assert statuses(operator) == {"done": MANY}
