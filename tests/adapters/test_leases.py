"""Whoever dies is followed by somebody else, whoever lives is left alone, and who comes too late changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from adapters.database import journal
from adapters.database.event_log import EventLog
from adapters.database.failures import Contended
from adapters.database.unit_of_work import UnitOfWork, unit_of_work
from adapters.workers import Worker
from automations.ports import Call
from automations.runner import MOST_CRASHES
from domain.attempts import LateAnswer, late_answers_of
from domain.endings import Done, Ending, Refused
from tests.operators import BOOKING, Operator, event, operator_on, rule, scene
from tests.scripted import ScriptedService

LEASE = timedelta(seconds=60)
MANY = 30


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours may catch it."""


def begin(operator: Operator, many: int) -> None:
    """Let so many bookings be made, each of which asks for a task."""
    operator.save(rule("task", "booking.created"))
    bookings = (event("booking.created", {**BOOKING, "booking_id": f"b{number}"}) for number in range(many))
    operator.record(*scene(), *bookings)


def killed_at_work(operator: Operator) -> None:
    with pytest.raises(Killed):
        operator.work()


def after_a_lease(operator: Operator, worker: Worker | None = None) -> None:
    """Let a worker notice who has stopped, and take over."""
    worker = worker or operator.app.worker()
    worker.work_until_idle()
    operator.clock.advance(LEASE)
    worker.work_until_idle()


def statuses(operator: Operator) -> Counter[str]:
    operator.follow()
    return Counter(run["status"] for run in operator.runs())


def at_call(number: int, act: Callable[[], object]) -> Callable[[Call], Ending | None]:
    """Return what acts during the n-th call, counted from 1."""
    numbers = iter(range(1, 1_000_000))

    def during(call: Call) -> Ending | None:
        if next(numbers) == number:
            act()
        return None

    return during


def die() -> None:
    raise Killed


def test_only_the_call_that_was_being_made_is_in_doubt(database_url: str) -> None:
    """Trials A5 and A10: the worker is killed in the midst of what it has claimed in one go."""
    tasks = ScriptedService("tasks", honours_keys=False, during=at_call(10, die))
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, MANY)
        killed_at_work(operator)
        after_a_lease(operator)
        assert statuses(operator) == {"done": MANY - 1, "unknown": 1}
        assert set(tasks.counted.values()) == {1}
        assert len(tasks.calls) == MANY


def test_a_service_that_knows_keys_is_asked_again_with_the_same(database_url: str) -> None:
    tasks = ScriptedService("tasks", during=at_call(10, die))
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, MANY)
        killed_at_work(operator)
        after_a_lease(operator)
        assert statuses(operator) == {"done": MANY}
        assert sorted(tasks.counted.values()) == [1] * (MANY - 1) + [2]


@pytest.mark.parametrize("honours_keys", [True, False])
def test_everything_goes_on_after_all_workers_were_killed(database_url: str, honours_keys: bool) -> None:
    """Trial A9: again and again, and the next one has no other name for it."""
    tasks = ScriptedService("tasks", honours_keys=honours_keys)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, MANY)
        for _ in range(3):
            tasks.during = at_call(5, die)
            worker = operator.app.worker()
            with pytest.raises(Killed):
                after_a_lease(operator, worker)
        tasks.during = lambda call: None
        after_a_lease(operator)
        expected = {"done": MANY} if honours_keys else {"done": MANY - 3, "unknown": 3}
        assert statuses(operator) == expected


def test_what_kills_its_worker_runs_out_of_attempts_and_stops_no_other(database_url: str) -> None:
    """Trial I3: the start of an attempt is what counts."""
    tasks = ScriptedService("tasks")
    poisoned: list[str] = []

    def kill(call: Call) -> Ending | None:
        poisoned[:] = poisoned or [call.key]
        if call.key in poisoned:
            raise Killed
        return None

    tasks.during = kill
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, MANY)
        for _ in range(MOST_CRASHES):
            with pytest.raises(Killed):
                after_a_lease(operator)
        after_a_lease(operator)
        assert statuses(operator) == {"done": MANY - 1, "failed": 1}
        assert tasks.counted[poisoned[0]] == MOST_CRASHES
        (failed,) = operator.runs(status=["failed"])
        assert "worker crashed" in failed["reason"]


def test_signs_of_life_keep_a_long_call_in_one_hand(database_url: str) -> None:
    tasks = ScriptedService("tasks")
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, 1)
        busy, other = operator.app.worker(), operator.app.worker()

        def take_long() -> None:
            for _ in range(20):
                operator.clock.advance(LEASE / 4)
                busy.beat()
                other.work_until_idle()

        tasks.during = at_call(1, take_long)
        busy.work_until_idle()
        assert (statuses(operator), len(tasks.calls)) == ({"done": 1}, 1)


@pytest.mark.parametrize("honours_keys", [True, False])
@pytest.mark.parametrize("answer", [Done(result={"task_id": "t1"}), Refused(reason="no")], ids=["done", "refused"])
def test_an_answer_that_comes_too_late_is_kept_and_changes_nothing(
    database_url: str, answer: Ending, honours_keys: bool
) -> None:
    tasks = ScriptedService("tasks", honours_keys=honours_keys, answer=answer)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, 1)
        slow, other = operator.app.worker(), operator.app.worker()

        def be_overtaken() -> None:
            tasks.answer = Done(result={"task_id": "another"})
            after_a_lease(operator, other)
            tasks.answer = answer

        tasks.during = at_call(1, be_overtaken)
        slow.work_until_idle()
        operator.work()
        (run,) = operator.runs()
        assert run["status"] == ("done" if honours_keys else "unknown")
        (late,) = operator.events(late_answers_of(run["key"]))
        assert isinstance(late, LateAnswer)
        assert (late.key, late.attempt, late.ending, late.operation) == (run["key"], 1, answer, "tasks.create")
        assert late.idempotency_key == tasks.calls[0].key
        assert len(tasks.calls) == (2 if honours_keys else 1)


def test_several_late_answers_are_all_kept(database_url: str) -> None:
    tasks = ScriptedService("tasks")
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, 1)
        workers = [operator.app.worker() for _ in range(3)]
        left = iter(workers[1:])

        def be_overtaken(call: Call) -> Ending | None:
            overtaking = next(left, None)
            if overtaking is not None:
                after_a_lease(operator, overtaking)
            return None

        tasks.during = be_overtaken
        workers[0].work_until_idle()
        operator.follow()
        (run,) = operator.runs()
        assert run["status"] == "done"
        late = operator.events(late_answers_of(run["key"]))
        assert sorted((each.version, each.attempt) for each in late if isinstance(each, LateAnswer)) == [(1, 2), (2, 1)]


def test_whoever_lost_its_lease_goes_no_further(database_url: str) -> None:
    """Between two actions, too: the second one is made by the new owner alone."""
    tasks = ScriptedService("tasks")
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        step = {"create_task": {"title": "Go"}}
        operator.save(rule("twice", "booking.created", do=[step, step]))
        operator.record(*scene(), event("booking.created", BOOKING))
        slow, other = operator.app.worker(), operator.app.worker()
        tasks.during = at_call(1, lambda: after_a_lease(operator, other))
        slow.work_until_idle()
        assert statuses(operator) == {"done": 1}
        assert sorted(key.rpartition("/")[2] for key in tasks.counted.elements()) == ["0", "0", "1"]


@pytest.mark.parametrize("honours_keys", [True, False])
def test_an_answer_that_was_recorded_after_all_is_not_kept_as_late(
    database_url: str, monkeypatch: pytest.MonkeyPatch, honours_keys: bool
) -> None:
    """The commit went through, and its worker never heard of it."""
    tasks = ScriptedService("tasks", honours_keys=honours_keys)
    unheard = iter([True])

    @contextmanager
    def broken_off(log: EventLog, name: str = "") -> Iterator[UnitOfWork]:
        with unit_of_work(log, name) as work:
            yield work
        if name == "record" and len(tasks.calls) == 1 and next(unheard, False):
            raise Contended("the answer to the commit was lost")

    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, 1)
        if not honours_keys:
            tasks.during = at_call(1, lambda: monkeypatch.setattr(journal, "unit_of_work", broken_off))
        else:
            monkeypatch.setattr(journal, "unit_of_work", broken_off)
        operator.work()
        assert next(unheard, None) is None
        after_a_lease(operator)
        assert (statuses(operator), len(tasks.calls)) == ({"done": 1}, 1)
        (run,) = operator.runs()
        assert operator.events(late_answers_of(run["key"])) == []


def test_a_fenced_answer_beside_a_recorded_one_is_evidence_of_its_own_attempt(database_url: str) -> None:
    """Both workers were answered; the new owner's answer is the execution's, the old one's is kept beside it."""
    answers: Iterator[Ending] = iter([Refused(reason="the old one"), Done(result={"task_id": "the new one"})])
    tasks = ScriptedService("tasks")
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        begin(operator, 1)
        slow, other = operator.app.worker(), operator.app.worker()

        def answer(call: Call) -> Ending | None:
            mine = next(answers)
            if isinstance(mine, Refused):
                after_a_lease(operator, other)
            return mine

        tasks.during = answer
        slow.work_until_idle()
        operator.follow()
        (run,) = operator.runs()
        before = operator.events(f"execution-{run['key']}")
        operator.work()
        assert operator.events(f"execution-{run['key']}") == before
        assert run["status"] == "done"
        (late,) = operator.events(late_answers_of(run["key"]))
        assert isinstance(late, LateAnswer)
        assert (late.attempt, late.ending) == (1, Refused(reason="the old one"))
