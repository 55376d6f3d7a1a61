"""What the ending of one call means for its execution."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from automations.outcomes import Attempted, Outcome, outcome_of
from automations.retries import SERVICE_RETRIES
from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown
from domain.rules import Step
from tests.domain.stories import AT, acted, attempt, execution, started
from tests.domain.stories import Step as EventStep

MINUTE = timedelta(minutes=1)


def outcome(
    ending: Ending,
    *steps: EventStep,
    on_failure: Any = "stop",
    is_last: bool = True,
    honours_keys: bool = True,
    jitter: float = 1.0,
    after: timedelta = timedelta(0),
) -> Outcome:
    state = execution(*(steps or (started(),)))
    step = Step(action="create_task", on_failure=on_failure)
    attempted = Attempted(state, step, is_last, honours_keys, ended_at=AT + after)
    return outcome_of(attempted, ending, SERVICE_RETRIES, jitter)


def test_the_last_success_is_the_end() -> None:
    assert outcome(Done()) == Outcome("done")


def test_an_earlier_success_goes_on_to_the_next_action() -> None:
    assert outcome(Done(), is_last=False) == Outcome("running")


def test_a_success_behind_a_failure_that_was_passed_over_stays_failed() -> None:
    passed_over = acted(Refused(reason="no"), status="running")
    found = outcome(Done(), started(), passed_over)
    assert (found.status, found.reason) == ("failed", "action 1 failed")


def test_a_no_fails_at_once() -> None:
    assert outcome(Refused(reason="no such door")) == Outcome("failed", "no such door")


def test_a_no_may_be_passed_over() -> None:
    assert outcome(Refused(reason="no"), on_failure="go_on", is_last=False) == Outcome("running", "no")
    assert outcome(Refused(reason="no"), on_failure="go_on", is_last=True) == Outcome("failed", "no")


def test_try_later_waits_by_the_schedule() -> None:
    assert outcome(TryLater(reason="busy")) == Outcome("waiting", "busy", AT + timedelta(seconds=10))


def test_try_later_waits_as_long_as_the_service_asks() -> None:
    found = outcome(TryLater(reason="busy", wait=timedelta(hours=3)), jitter=0.8)
    assert found.again_at == AT + timedelta(hours=3)


def test_try_later_gives_up_after_a_day() -> None:
    found = outcome(TryLater(reason="busy"), after=timedelta(hours=24))
    assert (found.status, found.reason) == ("failed", "gave up after 1 attempts: busy")


def test_try_later_gives_up_after_ten_waits() -> None:
    later = acted(TryLater(reason="busy"), status="waiting")
    found = outcome(TryLater(reason="busy"), started(), later, attempt(11))
    assert (found.status, found.reason) == ("failed", "gave up after 11 attempts: busy")


def test_a_set_up_that_is_wrong_is_probed_each_minute_without_end() -> None:
    found = outcome(Misconfigured(reason="401"), started(), attempt(99), after=timedelta(days=99))
    assert (found.status, found.again_at) == ("waiting", AT + timedelta(days=99) + MINUTE)


def test_unknown_is_repeated_where_the_service_honours_keys() -> None:
    assert outcome(Unknown(reason="timed out")).status == "waiting"


@pytest.mark.parametrize("is_last", [True, False])
def test_unknown_is_never_repeated_blindly(is_last: bool) -> None:
    found = outcome(Unknown(reason="timed out"), honours_keys=False, is_last=is_last)
    assert (found.status, found.again_at) == ("unknown", None)


def test_unknown_stays_unknown_when_it_gives_up() -> None:
    assert outcome(Unknown(reason="timed out"), after=timedelta(days=2)).status == "unknown"
