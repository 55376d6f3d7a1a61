"""What a call means that a held lane let through: nothing is counted, and nothing is given up."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automations.lanes import LONGEST_REST, PROBE_INTERVAL
from automations.outcomes import Attempted, Outcome, outcome_of
from automations.retries import SERVICE_RETRIES
from domain.endings import Done, Ending, Refused, TryLater, Unknown
from domain.rules import Step
from tests.domain.stories import AT, acted, attempt, execution, started

AWAY, SILENCE = TryLater(reason="away"), Unknown(reason="timed out")


def probed(ending: Ending, number: int = 1, *, honours_keys: bool = True, days: float = 0) -> Outcome:
    """Return what becomes of an execution whose n-th attempt was let through, after so many days."""
    state = execution(started(), acted(AWAY, status="waiting"), attempt(number))
    ended_at = AT + timedelta(days=days)
    attempted = Attempted(state, Step(action="create_task"), True, honours_keys, ended_at=ended_at, is_probe=True)
    return outcome_of(attempted, ending, SERVICE_RETRIES, jitter=1.0)


@pytest.mark.parametrize("ending", [AWAY, SILENCE])
@given(number=st.integers(1, 10_000), days=st.floats(0, 300))
def test_however_often_it_is_asked_and_however_long_it_takes(ending: Ending, number: int, days: float) -> None:
    found = probed(ending, number, days=days)
    assert (found.status, found.counted) == ("waiting", False)
    assert found.again_at == AT + timedelta(days=days) + PROBE_INTERVAL


def test_a_longer_wait_that_the_service_asks_for_is_kept() -> None:
    found = probed(TryLater(reason="away", wait=timedelta(minutes=20)))
    assert found.again_at == AT + timedelta(minutes=20)
    assert probed(TryLater(reason="away", wait=timedelta.max)).again_at == AT + LONGEST_REST


def test_what_may_have_been_accepted_is_not_asked_for_again_where_keys_mean_nothing() -> None:
    assert probed(SILENCE, honours_keys=False).status == "unknown"


def test_an_answer_means_what_it_always_means() -> None:
    assert probed(Done()) == Outcome("done")
    assert probed(Refused(reason="no")) == Outcome("failed", "no")


def test_whoever_gives_up_in_doubt_does_not_say_that_nothing_was_done() -> None:
    """The last attempt was turned away; but an earlier one had not been answered."""
    attempts = len(SERVICE_RETRIES.delays) + 1
    in_doubt = execution(started(), acted(SILENCE, status="waiting"), attempt(attempts))
    attempted = Attempted(in_doubt, Step(action="create_task"), True, True, ended_at=AT)
    assert outcome_of(attempted, AWAY, SERVICE_RETRIES, jitter=1.0).status == "unknown"
    certain = execution(started(), acted(AWAY, status="waiting"), attempt(attempts))
    attempted = Attempted(certain, Step(action="create_task"), True, True, ended_at=AT)
    assert outcome_of(attempted, AWAY, SERVICE_RETRIES, jitter=1.0).status == "failed"
