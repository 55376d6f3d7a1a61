"""What differs is told with what was found instead, and with what comes nearest."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from automations.scenarios.comparing import Difference, compared
from automations.scenarios.observed import Calls, Delivery, Dossier, Due, Message, Observed, Run
from domain.civil_time import zone
from tests.automations.scenarios.forms import read

TEN = datetime(2026, 5, 12, 8, tzinfo=UTC)
FEE = Run("fee", "booking/b1", "done", date(2026, 5, 12), TEN)
MESSAGE = Message("member/m1", "email", "reminder", TEN, "Hallo Mia")
DUE = Due("booking/b1", "remind", TEN)


def differences(expect: dict[str, Any], **happened: Any) -> list[Difference]:
    """Compare what is expected with what happened."""
    return compared(read(expect=expect).expect, Observed(**happened), zone("Europe/Berlin"))


def run(**changes: Any) -> Run:
    return replace(FEE, **changes)


EXACTLY = {
    "rule": "fee",
    "entity": "booking/b1",
    "status": "done",
    "date": "2026-05-12",
    "at": "2026-05-12 10:00",
    "late": False,
}


def test_what_is_as_expected_makes_no_difference() -> None:
    assert differences({"runs": [EXACTLY]}, runs=(FEE,)) == []


def test_what_is_not_written_may_be_anything() -> None:
    assert differences({"runs": [{"rule": "fee"}]}, runs=(run(status="failed", late=True),)) == []
    assert differences({"runs": [{}]}, runs=(FEE,)) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"status": "failed"}, "status is failed, not done"),
        ({"at": TEN + timedelta(minutes=5)}, "at is 2026-05-12 10:05, not 2026-05-12 10:00"),
        ({"date": date(2026, 5, 13)}, "date is 2026-05-13, not 2026-05-12"),
        ({"late": True}, "late is yes, not no"),
        ({"entity": "booking/b2"}, "entity is booking/b2, not booking/b1"),
        ({"rule": "fees"}, "rule is fees, not fee"),
    ],
)
def test_the_nearest_run_says_what_is_different_about_it(changes: dict[str, Any], told: str) -> None:
    missing, extra = differences({"runs": [EXACTLY]}, runs=(run(**changes),))
    assert (missing.path, missing.found) == (("expect", "runs", 0), "nothing like it")
    assert missing.nearest.endswith(told)
    assert (extra.path, extra.expected) == (("expect", "runs"), "no other run")


def test_a_difference_reads_well() -> None:
    missing, extra = differences(
        {"runs": [{"rule": "fee", "entity": "booking/b1", "status": "done"}]},
        runs=(run(status="failed", reason="billing refused"),),
    )
    told = "fee for booking/b1 on 2026-05-12, failed at 2026-05-12 10:00 (billing refused)"
    assert list(missing.lines()) == [
        "expected a run: rule fee, entity booking/b1, status done",
        "found nothing like it",
        f"nearest: {told}: status is failed, not done",
    ]
    assert list(extra.lines()) == [
        "expected no other run",
        f"found {told}",
    ]
    assert missing.to_json()["path"] == "expect.runs.0"


def test_the_list_of_runs_is_complete_but_for_skipped_ones() -> None:
    skipped, missed = run(status="skipped"), run(status="missed")
    assert differences({"runs": []}, runs=(skipped,)) == []
    assert [each.expected for each in differences({"runs": []}, runs=(skipped, missed))] == ["no other run"]
    assert differences({"runs": [{"status": "skipped"}]}, runs=(skipped, skipped)) == []
    assert differences({"runs": [{"status": "skipped"}]}) != []


def test_runs_that_have_to_be_among_others_are_looked_for_and_the_others_left_alone() -> None:
    assert differences({"runs_include": [{"entity": "booking/b1"}]}, runs=(FEE, run(entity="booking/b2"))) == []
    (missing,) = differences({"runs_include": [{"entity": "booking/b3"}]}, runs=(FEE,))
    assert missing.path == ("expect", "runs_include", 0)


def test_a_line_that_says_little_leaves_what_another_line_needs() -> None:
    lines = [{"rule": "fee"}, {"entity": "booking/b1"}, {"rule": "fee", "entity": "booking/b1", "late": True}]
    runs = (run(late=True), FEE, run(entity="booking/b2"))
    assert differences({"runs": lines}, runs=runs) == []
    assert differences({"runs": lines}, runs=tuple(reversed(runs))) == []


def test_a_line_can_stand_for_several() -> None:
    expect = {"runs": [{"rule": "fee", "times": 3}]}
    assert differences(expect, runs=(FEE, FEE, FEE)) == []
    (missing,) = differences(expect, runs=(FEE, FEE))
    assert (missing.expected, missing.found) == ("a run 3 times: rule fee", "2 of 3")


def test_a_reason_is_contained_whatever_the_case() -> None:
    expect = {"runs": [{"reason_contains": "no longer"}]}
    assert differences(expect, runs=(run(reason="No longer matches"),)) == []
    assert differences(expect, runs=(run(reason="refused"),))[0].nearest == ""


def test_only_the_statuses_that_are_named_are_counted() -> None:
    runs = (FEE, FEE, run(status="skipped"))
    assert differences({"counts": {"done": 2, "failed": 0}}, runs=runs) == []
    (found,) = differences({"counts": {"done": 3}}, runs=runs)
    assert (found.path, found.expected, found.found) == (("expect", "counts", "done"), "3 done", "2")
    assert found.nearest == "2 done, 1 skipped"


def test_calls_are_counted_by_effects_and_by_attempts() -> None:
    calls = {"billing.charge_fee": Calls(effects=1, attempts=2)}
    assert differences({"calls": {"billing.charge_fee": 1}}, calls=calls) == []
    assert differences({"calls": {"billing.charge_fee": {"effects": 1, "attempts": 2}}}, calls=calls) == []
    assert differences({"calls": {"access.grant": 0}}, calls=calls) == []
    (found,) = differences({"calls": {"billing.charge_fee": {"attempts": 1}}}, calls=calls)
    assert (found.expected, found.found) == ("billing.charge_fee: 1 attempt", "1 effect, 2 attempts")


def test_no_call_at_all_means_not_even_one_that_failed() -> None:
    assert differences({"calls": {"none": True}}) == []
    (found,) = differences({"calls": {"none": True}}, calls={"access.grant": Calls(effects=0, attempts=1)})
    assert found.found == "access.grant: 0 effects, 1 attempt"


def test_messages_are_a_complete_list_or_a_number() -> None:
    line = {"to": "member/m1", "channel": "email", "type": "reminder", "at": "2026-05-12 10:00", "text_contains": "Mia"}
    assert differences({"messages": [line]}, messages=(MESSAGE,)) == []
    assert differences({"messages": 1}, messages=(MESSAGE,)) == []
    (count,) = differences({"messages": 0}, messages=(MESSAGE,))
    assert count.found == "1: reminder to member/m1 by email at 2026-05-12 10:00: Hallo Mia"
    (extra,) = differences({"messages": []}, messages=(MESSAGE,))
    assert extra.expected == "no other message"
    (missing, _) = differences({"messages": [{**line, "text_contains": "mia"}]}, messages=(MESSAGE,))
    assert "text is 'Hallo Mia', not one with 'mia'" in missing.nearest


def test_deliveries_are_counted_by_status_or_listed() -> None:
    sent = Delivery("member/m1", "email", "reminder", "sent", TEN)
    skipped = replace(sent, status="skipped", reason="preference: switched off")
    rows = (sent, skipped)
    assert differences({"deliveries": {"sent": 1, "cancelled": 0}}, deliveries=rows) == []
    assert differences({"deliveries": {"sent": 2}}, deliveries=rows) != []
    listed = [{"status": "skipped", "reason": "preference"}, {"status": "sent"}]
    assert differences({"deliveries": listed}, deliveries=rows) == []
    assert differences({"deliveries": listed[:1]}, deliveries=rows) != []


def test_dossiers_are_counted_or_listed_with_their_runs() -> None:
    rows = (Dossier("access", "", "refused", 140), Dossier("tasks", "badge", "refused", 1))
    assert differences({"dossiers": 2}, dossiers=rows) == []
    listed = [{"service": "tasks"}, {"service": "access", "runs": 140}]
    assert differences({"dossiers": listed}, dossiers=rows) == []
    missing, _ = differences({"dossiers": [listed[0], {"service": "access", "runs": 1}]}, dossiers=rows)
    assert missing.nearest == "service access, refused, 140 runs: runs is 140, not 1"


def test_what_will_run_is_all_that_lies_ahead_of_what_is_named() -> None:
    line = {"entity": "booking/b1", "rule": "remind", "at": "2026-05-12 10:00"}
    others = (replace(DUE, entity="booking/b2"), replace(DUE, rule="fee"))
    assert differences({"will_run": [line]}, will_run=(DUE, *others)) == []
    later = replace(DUE, at=TEN + timedelta(days=8))
    assert [each.expected for each in differences({"will_run": [line]}, will_run=(DUE, later))] == [
        "no other run ahead"
    ]
    assert differences({"will_run": []}, will_run=(DUE,)) != []
    assert differences({"will_run": []}) == []


def test_what_comes_round_for_ever_is_compared_as_far_as_somebody_looks() -> None:
    weekly = tuple(Due("reminder/ana", "remind", TEN + timedelta(weeks=week)) for week in range(5))
    lines = [
        {"entity": "reminder/ana", "at": "2026-05-12 10:00"},
        {"entity": "reminder/ana", "at": "2026-05-19 10:00"},
    ]
    assert differences({"will_run": lines}, will_run=weekly) == []
    assert differences({"will_run": lines[1:]}, will_run=weekly) != []


def test_notices_to_staff_are_compared_like_messages() -> None:
    notice = Message("staff", "", "semel.outage", TEN, "1 missed, 3 late")
    assert differences({"notices": [{"text_contains": "1 missed, 3 late"}]}, notices=(notice,)) == []
    assert differences({"notices": 0}, notices=(notice,)) != []


def test_what_is_not_mentioned_is_not_compared() -> None:
    assert differences({}, runs=(FEE,), messages=(MESSAGE,), will_run=(DUE,)) == []
