"""What becomes of an execution when staff act on it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.contradictions import ExecutionBorneOut, ExecutionContradicted, contradiction
from domain.endings import Misconfigured, Refused, TryLater, Unknown
from domain.executions import Execution, stream_of
from domain.facts import Entity
from domain.staff_acts import ExecutionDismissed, ExecutionMarkedDone, ExecutionRetried, ExecutionRunAgain
from tests.domain.stories import AT, KEY, acted, attempt, did, ended, execution, started

NO = Refused(reason="no")
BUSY = TryLater(reason="busy")
retried = did(ExecutionRetried)


def minutes(number: int) -> timedelta:
    return timedelta(minutes=number)


def test_a_retry_returns_to_the_action_that_stopped_the_rest() -> None:
    state = execution(started(), acted(status="running"), acted(NO, action=1, status="failed"), retried)
    assert (state.status, state.action, state.todo, state.again_at) == ("waiting", 1, (1,), AT + minutes(3))
    assert (state.next_attempt, state.idempotency_key, state.checks) == (2, f"{KEY}/1", "wanted")
    again = execution(
        started(), acted(status="running"), acted(NO, action=1, status="failed"), retried, attempt(2, action=1)
    )
    assert (again.tries, again.first_attempt_at) == (1, AT + minutes(4))


def test_a_retry_goes_through_what_failed_and_nothing_that_is_done() -> None:
    three = started(actions=("notify", "charge_fee", "create_task"))
    lenient = acted(NO, status="running"), acted(action=1, status="running"), acted(NO, action=2, status="failed")
    state = execution(three, *lenient, retried)
    assert (state.action, state.todo, state.failed) == (0, (0, 2), (0, 2))
    went_on = execution(three, *lenient, retried, attempt(2), acted(number=2, status="running"))
    assert (went_on.action, went_on.attempt, went_on.tries, went_on.failed) == (2, 2, 1, (2,))
    done = execution(
        three,
        *lenient,
        retried,
        attempt(2),
        acted(number=2, status="running"),
        acted(action=2, number=2, status="done"),
    )
    assert (done.status, done.failed, sorted(done.succeeded)) == ("done", (), [0, 1, 2])


def test_a_retry_of_what_waits_only_hastens_it_and_begins_a_new_schedule() -> None:
    state = execution(
        started(), acted(BUSY, status="waiting"), attempt(2), acted(BUSY, number=2, status="waiting"), retried
    )
    assert (state.status, state.next_attempt, state.before, state.again_at) == ("waiting", 3, 2, AT + minutes(4))


def test_a_retry_of_a_foiled_attempt_keeps_its_number() -> None:
    state = execution(started(), acted(Misconfigured(reason="401"), status="waiting"), retried)
    assert (state.next_attempt, state.before) == (1, 0)


@pytest.mark.parametrize("ending", ["conditions", "rule", "chain", "facts"])
def test_what_was_never_judged_is_judged_by_a_retry_as_its_first_attempt(ending: str) -> None:
    state = execution(started(), ended("failed", ending=ending), retried)
    assert (state.checks, state.next_attempt, state.action) == ("conditions", 1, 0)


def test_what_may_have_been_accepted_is_asked_for_again_as_it_was() -> None:
    lost = acted(Unknown(reason="?"), status="unknown")
    state = execution(started(), lost, retried)
    assert state.sent is not None
    assert (state.sent.idempotency_key, state.idempotency_key) == (f"{KEY}/0", f"{KEY}/0")


def test_what_was_done_by_hand_is_done() -> None:
    state = execution(started(), acted(NO, status="failed"), did(ExecutionMarkedDone))
    assert (state.status, state.reason, state.rearmable) == ("done", "done by hand by ana", False)


def test_what_failed_stays_failed_when_it_is_dismissed_and_its_key_is_taken() -> None:
    dismissed = did(ExecutionDismissed, status="failed", told="dismissed by ana: no")
    state = execution(started(), acted(NO, status="failed"), dismissed)
    assert (state.status, state.dismissed, state.rearmable) == ("failed", True, False)
    assert execution(started(), acted(NO, status="failed"), dismissed, retried).dismissed is False


def test_what_waits_is_cancelled_by_a_dismissal_and_its_key_is_free_if_nothing_was_done() -> None:
    dismissed = did(ExecutionDismissed, status="cancelled", told="dismissed by ana: busy")
    state = execution(started(), acted(BUSY, status="waiting"), dismissed)
    assert (state.status, state.again_at, state.rearmable) == ("cancelled", None, True)
    assert not execution(started(), acted(Unknown(reason="?"), status="waiting"), dismissed).rearmable


def run_again(**content: int) -> Execution:
    """Return a run that is done and is run again."""
    done = started(), acted(status="running"), acted(action=1, status="done")
    return execution(*done, did(ExecutionRunAgain, series=2, **content))


def test_run_again_begins_a_series_whose_keys_are_new() -> None:
    state = run_again()
    assert (state.status, state.series, state.action, state.todo, state.next_attempt) == ("waiting", 2, 0, (0, 1), 1)
    assert state.idempotency_key == f"{KEY}/0/2"


def test_one_action_can_be_run_again_alone() -> None:
    state = run_again(action=1)
    assert (state.action, state.todo, state.is_last_action) == (1, (1,), True)
    assert state.idempotency_key == f"{KEY}/1/2"


def test_a_run_is_contradicted_until_it_is_borne_out() -> None:
    done = started(), acted(status="running"), acted(action=1, status="done")

    def against(version: int) -> ExecutionContradicted:
        return ExecutionContradicted(
            stream=stream_of(KEY), version=version, at=AT, operation="billing.charge_fee", reason="was there"
        )

    def borne_out(version: int) -> ExecutionBorneOut:
        return ExecutionBorneOut(stream=stream_of(KEY), version=version, at=AT, reason="was not")

    assert (execution(*done, against).contradicted, execution(*done, against).status) == (True, "done")
    assert not execution(*done, against, borne_out).contradicted


@pytest.mark.parametrize(
    ("trigger", "status", "told"),
    [
        ("booking.no_show", "confirmed", "the booking is confirmed now, and was charged as no show"),
        ("booking.no_show", "no_show", None),
        ("booking.cancelled", "confirmed", "the booking is confirmed now, and was charged as cancelled"),
        ("booking.created", "cancelled", None),
        ("booking.no_show", None, None),
    ],
)
def test_an_entity_contradicts_the_status_that_it_was_charged_for(
    trigger: str, status: str | None, told: str | None
) -> None:
    assert contradiction(execution(started(trigger=trigger)), Entity("booking/b1", values={"status": status})) == told
