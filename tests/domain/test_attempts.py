"""What an execution remembers of its attempts: what counted, what nobody knows, and what killed its worker."""

from __future__ import annotations

from typing import Any

import pytest

from domain.attempts import CallStarted, ExecutionHeld, late, late_answers_of
from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown
from domain.executions import ActionDone, stream_of
from tests.domain.stories import AT, KEY, Step, acted, attempt, execution, rearmed, started

LATER, SILENCE = TryLater(reason="busy"), Unknown(reason="timed out")


def placed(version: int) -> dict[str, Any]:
    return {"stream": stream_of(KEY), "version": version, "at": AT}


def held(number: int = 1) -> Step:
    told: dict[str, Any] = {"action": 0, "attempt": number, "service": "tasks", "reason": "away", "again_at": AT}
    return lambda version: ExecutionHeld(**placed(version), **told)


def call_begins(number: int = 1) -> Step:
    return lambda version: CallStarted(**placed(version), action=0, attempt=number, operation="tasks.create")


def waits(ending: Ending = LATER, number: int = 1, **content: Any) -> Step:
    return acted(ending, number=number, status="waiting", **content)


def test_an_attempt_that_is_held_back_does_not_count() -> None:
    state = execution(started(), held())
    assert (state.status, state.reason, state.next_attempt, state.touched) == ("waiting", "away", 1, False)
    assert execution(started(), held(), attempt(1)).waited


@pytest.mark.parametrize("ending", [LATER, SILENCE])
def test_what_a_held_lane_let_through_counts_only_if_it_says_so(ending: Ending) -> None:
    assert execution(started(), waits(ending)).next_attempt == 2
    assert execution(started(), waits(ending, counted=False)).next_attempt == 1


def test_a_wrong_set_up_never_counts() -> None:
    assert execution(started(), waits(Misconfigured(reason="401"))).next_attempt == 1


def test_a_call_that_must_not_be_made_twice_is_remembered_until_it_is_answered() -> None:
    assert execution(started(), call_begins()).calling
    assert not execution(started(), call_begins(), waits()).calling
    assert not execution(started(), call_begins(), acted(status="running")).calling


def test_attempts_without_an_ending_are_counted_in_a_row() -> None:
    lost = [started(), attempt(2), attempt(3)]
    assert execution(*lost).lost == 2
    assert execution(*lost, waits(number=3)).lost == 0
    assert execution(*lost, waits(number=3), attempt(4)).lost == 0
    assert execution(*lost, held(3)).lost == 0


@pytest.mark.parametrize(
    ("steps", "doubtful"),
    [
        ([], False),
        ([waits()], False),
        ([waits(SILENCE)], True),
        ([waits(SILENCE), attempt(2), waits(number=2)], True),
        ([waits(SILENCE), attempt(2), waits(Misconfigured(reason="401"), number=2)], True),
        ([attempt(2)], True),
        ([attempt(2), waits(number=2)], True),
        ([waits(SILENCE), attempt(2), acted(Done(), number=2, status="running")], False),
        ([waits(SILENCE), attempt(2), acted(Refused(reason="no"), number=2, status="running")], False),
        ([acted(SILENCE, status="running")], False),
        ([attempt(2), acted(Refused(reason="no"), number=2, status="failed")], False),
    ],
)
def test_an_action_is_in_doubt_until_its_service_answers_for_good(steps: list[Step], doubtful: bool) -> None:
    assert execution(started(), *steps).doubtful == doubtful


def test_a_claim_that_is_taken_up_again_begins_without_a_past() -> None:
    state = execution(started(), attempt(2), held(2), rearmed(actions=("create_task",)))
    assert (state.lost, state.probing, state.waited, state.doubtful, state.calling) == (0, False, False, False, False)


def test_a_late_answer_says_all_that_the_answer_would_have_said() -> None:
    done = acted(Done(result={"task_id": "t1"}), arguments={"title": "Go"}, status="done")(2)
    assert isinstance(done, ActionDone)
    answer = late(KEY, done)
    assert (answer.stream, answer.version, answer.key) == (late_answers_of(KEY), 1, KEY)
    assert (answer.ending, answer.arguments, answer.attempt) == (done.ending, done.arguments, 1)
    assert answer.stream != stream_of(KEY)
