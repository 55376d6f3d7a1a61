"""A dossier's life, what its failures have in common, and what staff are told."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.dossiers import (
    OPENED,
    RECOVERED,
    DossierAssigned,
    DossierClosed,
    DossierOpened,
    DossierReopened,
    DossierState,
    FailureCause,
    after_dossier_event,
    cause_of_call,
    cause_of_corruption,
    cause_of_end,
    cause_of_lane,
    cause_of_wait,
    closing,
    dossier_state,
    notice_of,
    opening,
)
from domain.endings import Ending, Misconfigured, Refused, TryLater, Unknown
from domain.executions import ActionDone, ExecutionEnded
from tests.domain.stories import AT, acted, ended

NO = FailureCause("access.grant", "refused")
DAY = timedelta(days=1)


def test_the_same_cause_is_the_same_dossier_and_another_one_is_not() -> None:
    others = [
        FailureCause("access.revoke", "refused"),
        FailureCause("access.grant", "unknown"),
        FailureCause("access.grant", "refused", "r"),
        FailureCause("access.gran", "trefused"),
    ]
    assert FailureCause("access.grant", "refused").dossier == NO.dossier
    assert len({NO.dossier, *(each.dossier for each in others)}) == 5


@pytest.mark.parametrize(
    ("ending", "cause"),
    [
        (Refused(reason="no"), FailureCause("access.grant", "refused")),
        (Refused(reason="no", at_fault="rule"), FailureCause("access.grant", "refused", "r")),
        (Unknown(reason="?"), FailureCause("access.grant", "unknown")),
        (TryLater(reason="busy"), FailureCause("access", "try_later")),
        (Misconfigured(reason="401"), FailureCause("access", "misconfigured")),
    ],
)
def test_the_cause_of_a_call_is_the_operation_or_the_whole_service_or_the_rule(
    ending: Ending, cause: FailureCause
) -> None:
    assert cause_of_call("access.grant", ending, "r") == cause


def test_what_waits_waits_for_its_service() -> None:
    for ending, expected in ((TryLater(reason="b"), "try_later"), (Misconfigured(reason="m"), "misconfigured")):
        event = acted(ending, status="waiting", operation="access.grant")(2)
        assert isinstance(event, ActionDone)
        assert cause_of_wait(event) == FailureCause("access", expected)


def test_a_lane_is_held_for_the_cause_that_its_calls_would_have() -> None:
    assert cause_of_lane("access", "unknown") == cause_of_lane("access", "try_later")
    assert cause_of_lane("access", "misconfigured") == cause_of_call("access.revoke", Misconfigured(reason="m"), "r")


@pytest.mark.parametrize("ending", ["conditions", "rule", "chain", "facts"])
def test_before_any_call_the_rule_is_the_cause(ending: str) -> None:
    event = ended("failed", ending=ending, operation="access.grant")(2)
    assert isinstance(event, ExecutionEnded)
    assert cause_of_end(event, "r") == FailureCause("", ending, "r")


def test_a_call_that_nobody_knows_about_has_the_cause_of_an_unknown_one() -> None:
    event = ended("unknown", ending="unknown", operation="access.grant")(2)
    assert isinstance(event, ExecutionEnded)
    assert cause_of_end(event, "r") == cause_of_call("access.grant", Unknown(reason="?"), "r")


def test_causes_are_told_in_words() -> None:
    assert str(NO) == "access.grant was refused"
    assert str(FailureCause("", "chain", "r")) == "rules caused one another (rule r)"
    assert str(cause_of_lane("access")) == "access does not answer"
    assert str(cause_of_corruption("booking.created")) == "events of log.booking.created cannot be read"
    assert str(FailureCause("a.b", "something new")) == "a.b: something new"


def opened() -> DossierState:
    """Return a dossier that is open."""
    event = opening(DossierState(), NO, runs=3, reason="no", at=AT)
    assert isinstance(event, DossierOpened)
    return after_dossier_event(DossierState(), event)


def closed() -> DossierState:
    """Return a dossier that was closed."""
    event = closing(opened(), NO.dossier, {"done": 2}, AT)
    assert isinstance(event, DossierClosed)
    return after_dossier_event(opened(), event)


def test_an_open_dossier_is_not_opened_again_and_a_closed_one_not_closed() -> None:
    assert opening(opened(), NO, runs=4, reason="no", at=AT) is None
    assert closing(closed(), NO.dossier, {}, AT) is None
    assert closing(DossierState(), NO.dossier, {}, AT) is None


def test_it_is_reopened_within_a_day_and_begins_anew_later() -> None:
    assert isinstance(opening(closed(), NO, runs=1, reason="no", at=AT + DAY), DossierReopened)
    anew = opening(closed(), NO, runs=1, reason="no", at=AT + DAY + timedelta(seconds=1))
    assert isinstance(anew, DossierOpened)
    assert anew.version == 3


def test_reopening_keeps_who_looks_after_it_and_beginning_anew_does_not() -> None:
    stream = opened()
    assigned = after_dossier_event(stream, DossierAssigned(stream="dossier/x", version=2, at=AT, to="ben", by="ana"))
    shut = closing(assigned, NO.dossier, {}, AT)
    assert shut is not None
    again = after_dossier_event(assigned, shut)
    reopened = opening(again, NO, runs=1, reason="no", at=AT)
    anew = opening(again, NO, runs=1, reason="no", at=AT + 2 * DAY)
    assert reopened is not None
    assert anew is not None
    assert after_dossier_event(again, reopened).assigned_to == "ben"
    assert after_dossier_event(again, anew).assigned_to == ""


def test_a_dossier_folds_from_its_events() -> None:
    first = opening(DossierState(), NO, runs=3, reason="no", at=AT)
    assert first is not None
    state = dossier_state([first])
    assert (state.cause, state.is_open, state.opened_at, state.version) == (NO, True, AT, 1)
    assert dossier_state([]) == DossierState()


def test_staff_are_told_what_happened_once_for_each_opening_and_closing() -> None:
    first = opening(DossierState(), NO, runs=3, reason="door away", at=AT)
    last = closing(opened(), NO.dossier, {"done": 2, "no_longer_needed": 1}, AT)
    assert first is not None
    assert last is not None
    notices = notice_of(first, NO), notice_of(last, NO)
    assert [notice.type for notice in notices] == [OPENED, RECOVERED]
    assert len({notice.key for notice in notices}) == 2
    assert notices[0].payload["runs"] == 3
    assert notices[0].payload["cause"] == "access.grant was refused"
    assert (notices[1].payload["done"], notices[1].payload["no_longer_needed"]) == (2, 1)
