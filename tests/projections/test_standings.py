"""Where a run stands after each of its events."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from domain.attempts import ExecutionHeld
from domain.contradictions import ExecutionBorneOut, ExecutionContradicted
from domain.dossiers import FailureCause, cause_of_lane
from domain.endings import Misconfigured, Refused, TryLater, Unknown
from domain.executions import stream_of
from domain.staff_acts import ExecutionDismissed, ExecutionMarkedDone, ExecutionRetried, ExecutionRunAgain
from projections.standings import Place, is_failing, moved
from tests.domain.stories import AT, KEY, Step, acted, attempt, did, ended, story

TASKS = FailureCause("tasks.create", "refused")
AWAY = cause_of_lane("tasks")
NO, BUSY = Refused(reason="no"), TryLater(reason="busy")
refused, waits = acted(NO, status="failed", reason="no"), acted(BUSY, status="waiting", reason="busy")


def held(version: int) -> ExecutionHeld:
    return ExecutionHeld(
        stream=stream_of(KEY), version=version, at=AT, action=0, attempt=1, service="tasks", reason="busy"
    )


def against(version: int) -> ExecutionContradicted:
    return ExecutionContradicted(
        stream=stream_of(KEY), version=version, at=AT, operation="billing.charge_fee", reason="was there"
    )


def borne_out(version: int) -> ExecutionBorneOut:
    return ExecutionBorneOut(stream=stream_of(KEY), version=version, at=AT, reason="was not")


def place(*steps: Step, held_by: Mapping[str, FailureCause] | None = None) -> Place | None:
    """Return where a run of the rule r stands after these events."""
    found: Place | None = None
    for event in story(*steps):
        found = moved(found, event, "r", held_by or {}) or found
    return found


def standing(*steps: Step) -> tuple[FailureCause, str, str] | None:
    found = place(*steps)
    return None if found is None else (found.cause, found.standing, found.status)


def test_what_is_done_at_once_stands_nowhere() -> None:
    assert standing(acted(status="running"), acted(action=1, status="done")) is None
    assert standing(attempt(2), ended("skipped")) is None


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([refused], (TASKS, "open", "failed")),
        ([acted(Unknown(reason="?"), status="unknown")], (FailureCause("tasks.create", "unknown"), "open", "unknown")),
        ([waits], (AWAY, "waiting", "waiting")),
        ([held], (AWAY, "waiting", "waiting")),
        (
            [acted(Misconfigured(reason="m"), status="waiting")],
            (cause_of_lane("tasks", "misconfigured"), "waiting", "waiting"),
        ),
        ([waits, acted(BUSY, status="failed")], (AWAY, "open", "failed")),
        ([waits, attempt(2)], (AWAY, "waiting", "running")),
        ([waits, acted(status="done")], (AWAY, "done", "done")),
        ([waits, acted(status="running")], (AWAY, "done", "running")),
        ([waits, ended("skipped")], (AWAY, "no_longer_needed", "skipped")),
        ([ended("failed", ending="conditions")], (FailureCause("", "conditions", "r"), "open", "failed")),
        ([refused, did(ExecutionRetried)], (TASKS, "open", "waiting")),
        ([refused, did(ExecutionRetried), attempt(2)], (TASKS, "open", "running")),
        ([refused, did(ExecutionRetried), attempt(2), waits], (TASKS, "open", "waiting")),
        ([refused, did(ExecutionRetried), held], (TASKS, "open", "waiting")),
        ([refused, did(ExecutionRetried), acted(status="running")], (TASKS, "open", "running")),
        ([refused, did(ExecutionRetried), acted(status="done")], (TASKS, "done", "done")),
        ([refused, did(ExecutionRetried), ended("skipped")], (TASKS, "no_longer_needed", "skipped")),
        ([refused, did(ExecutionMarkedDone)], (TASKS, "by_hand", "done")),
        ([refused, did(ExecutionDismissed, status="failed", told="d")], (TASKS, "dismissed", "failed")),
        ([refused, did(ExecutionMarkedDone), did(ExecutionRunAgain, series=2)], (TASKS, "by_hand", "done")),
        ([refused, did(ExecutionRunAgain, series=2)], (TASKS, "open", "waiting")),
        ([against], (FailureCause("billing.charge_fee", "contradicted", "r"), "open", "done")),
        ([against, borne_out], (FailureCause("billing.charge_fee", "contradicted", "r"), "no_longer_needed", "done")),
    ],
)
def test_a_run_stands_where_its_events_put_it(steps: list[Step], expected: tuple[FailureCause, str, str]) -> None:
    assert standing(*steps) == expected


def test_a_run_that_goes_on_after_a_failure_stands_among_the_failures_to_its_end() -> None:
    went_on = acted(NO, status="running", reason="no"), acted(action=1, status="failed", reason="action 1 failed")
    assert standing(*went_on) == (TASKS, "open", "failed")


def test_what_waits_for_a_service_waits_for_the_cause_that_holds_it() -> None:
    wrong = cause_of_lane("tasks", "misconfigured")
    for step in (waits, held):
        found = place(step, held_by={"tasks": wrong})
        assert found is not None
        assert found.cause == wrong


def test_only_what_may_begin_a_failure_counts_as_failing() -> None:
    failing = [refused, waits, held, against, ended("failed"), ended("unknown")]
    others = [acted(status="done"), attempt(2), ended("skipped"), did(ExecutionRetried)]
    assert [is_failing(step(1)) for step in (*failing, *others)] == [True] * 6 + [False] * 4
