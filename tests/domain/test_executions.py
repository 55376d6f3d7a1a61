"""One execution: its key, its state after each event, and when its key is free again."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown
from domain.execution_folding import after, execution_of
from domain.executions import dedupe_key, idempotency_key, key_of, occasion_of, stream_of
from tests.domain.stories import AT, KEY, Step, acted, attempt, ended, execution, rearmed, started, story

LATER = AT + timedelta(hours=1)


def test_the_key_is_made_of_rule_trigger_entity_and_occasion() -> None:
    key = dedupe_key("r", "booking.created", "booking/b1", "2026-05-12")
    assert len(key) == 64
    assert key == dedupe_key("r", "booking.created", "booking/b1", "2026-05-12")


@pytest.mark.parametrize(
    "other",
    [
        ("rb", "ooking.created", "booking/b1", "2026-05-12"),
        ("r", "booking.changed", "booking/b1", "2026-05-12"),
        ("r", "booking.created", "booking/b12", "026-05-12"),
        ("r", "booking.created", "booking/b1", ""),
        ("r", "booking.created", "booking/b1 2026-05-12", ""),
    ],
)
def test_another_part_or_another_cut_between_parts_is_another_key(other: tuple[str, str, str, str]) -> None:
    assert dedupe_key(*other) != dedupe_key("r", "booking.created", "booking/b1", "2026-05-12")


def test_the_occasion_is_as_exact_as_the_rule_asks() -> None:
    wall = datetime(2026, 5, 12, 15, 0)
    assert occasion_of("date", "2026-05-12", event="s#1", wall=wall) == "2026-05-12"
    assert occasion_of("event", "2026-05-12", event="s#1") == "2026-05-12 s#1"
    assert occasion_of("moment", "2026-05-12", wall=wall) == "2026-05-12 2026-05-12T15:00:00"
    assert occasion_of("entity", "2026-05-12", event="s#1", wall=wall) == ""


def test_the_stream_is_named_after_the_key() -> None:
    assert key_of(stream_of(KEY)) == KEY


def test_each_action_has_a_key_of_its_own_and_so_has_each_repeat_on_purpose() -> None:
    keys = [idempotency_key(KEY, 0), idempotency_key(KEY, 1), idempotency_key(KEY, 1, series=2)]
    assert keys == [f"{KEY}/0", f"{KEY}/1", f"{KEY}/1/2"]


def test_without_events_there_is_no_execution() -> None:
    assert execution_of([]) is None


def test_a_stream_that_begins_otherwise_is_refused() -> None:
    with pytest.raises(ValueError, match=r"begins with execution\.ended"):
        execution_of(story(ended("skipped")))


def test_the_claim_is_the_start_of_the_first_attempt() -> None:
    state = execution(started())
    assert (state.status, state.action, state.attempt, state.series) == ("running", 0, 1, 1)
    assert state.first_attempt_at == AT
    assert state.idempotency_key == f"{KEY}/0"


def test_the_next_action_begins_with_the_end_of_the_one_before() -> None:
    state = execution(started(), acted(status="running"))
    assert (state.status, state.action, state.attempt) == ("running", 1, 1)
    assert state.first_attempt_at == AT + timedelta(minutes=1)
    assert state.idempotency_key == f"{KEY}/1"


def test_retries_keep_the_key_and_the_instant_of_the_first_attempt() -> None:
    state = execution(started(), acted(TryLater(reason="busy"), status="waiting", again_at=LATER), attempt(2))
    assert (state.status, state.attempt, state.again_at) == ("running", 2, None)
    assert state.first_attempt_at == AT
    assert state.idempotency_key == f"{KEY}/0"


def test_while_it_waits_it_knows_until_when() -> None:
    state = execution(started(), acted(TryLater(reason="busy"), status="waiting", again_at=LATER))
    assert (state.status, state.again_at, state.next_attempt) == ("waiting", LATER, 2)


def test_an_attempt_that_our_own_set_up_foiled_is_not_counted() -> None:
    foiled = acted(Misconfigured(reason="401"), status="waiting", again_at=LATER)
    state = execution(started(), foiled)
    assert (state.next_attempt, state.probing) == (1, True)
    again = execution(started(), foiled, attempt(1))
    assert (again.next_attempt, again.probing) == (2, False)
    assert again.first_attempt_at == AT + timedelta(minutes=2)


def test_what_ended_waits_for_nothing() -> None:
    waiting = acted(TryLater(reason="busy"), status="waiting", again_at=LATER)
    assert execution(started(), waiting, ended("skipped")).again_at is None


def test_a_failed_action_is_remembered_until_it_succeeds() -> None:
    no = acted(Refused(reason="no"), status="running")
    assert execution(started(), no).failed == (0,)
    assert execution(started(), no, acted(action=1, status="failed")).failed == (0,)


@pytest.mark.parametrize("status", ["skipped", "missed", "cancelled"])
def test_what_ended_before_any_call_frees_its_key(status: str) -> None:
    assert execution(started(), ended(status)).rearmable


@pytest.mark.parametrize("status", ["failed", "unknown"])
def test_what_failed_does_not(status: str) -> None:
    assert not execution(started(), ended(status)).rearmable


@pytest.mark.parametrize("ending", [TryLater(reason="busy"), Misconfigured(reason="401")])
def test_a_call_that_had_no_effect_leaves_the_key_free(ending: Ending) -> None:
    assert execution(started(), acted(ending, status="waiting"), ended("skipped")).rearmable


@pytest.mark.parametrize("ending", [Done(), Refused(reason="no"), Unknown(reason="timed out")])
def test_a_call_that_may_have_had_an_effect_blocks_it(ending: Ending) -> None:
    assert not execution(started(), acted(ending, status="waiting"), ended("skipped")).rearmable


def test_an_attempt_whose_worker_vanished_may_have_had_an_effect() -> None:
    assert not execution(started(), attempt(2), ended("skipped")).rearmable


def test_while_it_runs_or_waits_nobody_takes_it_up_again() -> None:
    assert not execution(started()).rearmable
    assert not execution(started(), acted(TryLater(reason="busy"), status="waiting")).rearmable


def test_a_rearmed_claim_begins_again_under_its_key() -> None:
    steps: tuple[Step, ...] = (
        started(member="m1"),
        acted(TryLater(reason="busy"), status="waiting", again_at=LATER),
        attempt(2),
        ended("skipped", "invoice paid"),
        rearmed(member="m2", actions=("notify",)),
    )
    state = execution(*steps)
    assert (state.status, state.reason, state.action, state.attempt) == ("running", "", 0, 1)
    assert (state.occurrence.rule_version, state.occurrence.member) == (2, "m2")
    assert state.occurrence.actions == ("notify",)
    assert state.claim.rule_version == 1
    assert state.first_attempt_at == AT + timedelta(minutes=4)
    assert state.idempotency_key == f"{KEY}/0"


def test_one_event_more_is_the_same_as_all_of_them_anew() -> None:
    events = story(started(), acted(status="running"), acted(action=1, status="done"))
    state = execution_of(events[:1])
    for event in events[1:]:
        assert state is not None
        state = after(state, event)
    assert state == execution_of(events)
