"""The check right before each action: every reason to go no further, and none where there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from automations.recheck import Look, Stop, recheck
from automations.rulebook import ReadyRule, RuleBook
from domain.condition_tree import Leaf
from domain.executions import Execution
from domain.facts import Fact
from domain.rules import RuleState, archived, rule_state, switched
from tests.automations.worlds import NOON, Ledger, book, rule_of, scene
from tests.domain.stories import Step, acted, attempt, execution, started

BIG = "booking.attendees above 2"


def claimed(trigger: str, fact: Fact, *steps: Step, **content: Any) -> Execution:
    begun = started(trigger=trigger, entity=fact.stream, source=fact.version, **content)
    state = execution(begun, *steps)
    return replace(state, occurrence=state.occurrence.model_copy(update={"at": NOON}))


def stop(
    ledger: Ledger, fact: Fact, state: RuleState | None, *steps: Step, after: timedelta = timedelta(0), **content: Any
) -> Stop | None:
    """Return why an execution of this rule must go no further."""
    run = claimed(content.pop("trigger", state.rule.when if state else "booking.created"), fact, *steps, **content)
    rule: ReadyRule | None = RuleBook([state] if state else []).ready("r")
    look, now = Look(ledger.world, rule, fact), NOON + after
    return recheck(run, look, look.situation(run, now), now)


def test_what_still_holds_goes_on() -> None:
    ledger = scene()
    assert stop(ledger, book(ledger, attendees=4), rule_of("booking.created", BIG)) is None


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        (lambda state: None, "cancelled", "the rule is archived"),
        (lambda state: after(state, archived), "cancelled", "the rule is archived"),
        (lambda state: after(state, disabled), "skipped", "no longer matches (the rule is disabled)"),
    ],
)
def test_a_rule_that_is_over_stops_it(
    change: Callable[[RuleState], RuleState | None], status: str, reason: str
) -> None:
    ledger = scene()
    fact = book(ledger)
    found = stop(ledger, fact, change(rule_of("booking.created")), trigger="booking.created")
    assert found is not None
    assert (found.status, found.reason) == (status, reason)


def after(state: RuleState, decide: Callable[..., Any]) -> RuleState | None:
    return rule_state(decide(state, at=NOON, by="test"), state)


def disabled(state: RuleState, **how: Any) -> Any:
    return switched(state, "disabled", **how)


def test_a_rule_that_waits_for_something_else_now_stops_it() -> None:
    ledger = scene()
    found = stop(ledger, book(ledger), rule_of("booking.changed"), trigger="booking.created")
    assert found is not None
    assert (found.status, "booking.changed" in found.reason) == ("skipped", True)


def test_a_broken_rule_fails_it() -> None:
    ledger = scene()
    state = rule_of("booking.created")
    gone = state.rule.model_copy(update={"where": Leaf("booking.shoe_size", "is", 44)})
    broken = replace(state, rule=gone)
    found = stop(ledger, book(ledger), broken)
    assert found is not None
    assert (found.status, found.ending) == ("failed", "rule")


def test_conditions_that_hold_no_longer_skip_it_and_tell_what_they_saw() -> None:
    ledger = scene()
    fact = book(ledger, attendees=4)
    ledger.tell("booking.changed", booking_id="b1", attendees=1, at=NOON + timedelta(minutes=1))
    found = stop(ledger, fact, rule_of("booking.created", BIG))
    assert found is not None
    assert (found.status, found.verdict is not None) == ("skipped", True)
    assert found.reason == "no longer matches (booking.attendees is 1, wanted: above 2)"


def test_conditions_on_the_event_keep_what_the_event_said() -> None:
    ledger = scene()
    fact = book(ledger, attendees=4)
    ledger.tell("booking.changed", booking_id="b1", attendees=1, at=NOON + timedelta(minutes=1))
    assert stop(ledger, fact, rule_of("booking.created", "event.attendees above 2")) is None


def test_conditions_that_cannot_be_decided_fail_it() -> None:
    ledger = scene()
    found = stop(ledger, book(ledger, code="x"), rule_of("booking.created", "booking.extra.code above 5"))
    assert found is not None
    assert (found.status, found.ending) == ("failed", "conditions")


def test_a_cancelled_booking_stops_what_its_creation_started() -> None:
    ledger = scene()
    fact = book(ledger)
    ledger.tell("booking.cancelled", booking_id="b1", at=NOON + timedelta(minutes=1))
    found = stop(ledger, fact, rule_of("booking.created"))
    assert found is not None
    assert found.reason == "no longer matches (booking cancelled)"


def test_but_not_what_its_cancelling_started() -> None:
    ledger = scene()
    book(ledger)
    fact = ledger.tell("booking.cancelled", booking_id="b1", at=NOON + timedelta(minutes=1))
    assert stop(ledger, fact, rule_of("booking.cancelled")) is None


def test_a_voided_invoice_stops_what_its_payment_started() -> None:
    ledger = scene()
    invoice: dict[str, Any] = {"invoice_id": "i1", "space_id": "mitte", "member_id": "m1", "due_on": "2026-05-20"}
    ledger.tell("invoice.issued", total="10.00 EUR", **invoice)
    fact = ledger.tell("payment.received", payment_id="p1", invoice_id="i1", amount="10.00 EUR")
    ledger.tell("invoice.voided", invoice_id="i1", at=NOON + timedelta(minutes=1))
    found = stop(ledger, fact, rule_of("payment.received"))
    assert found is not None
    assert found.reason == "no longer matches (invoice voided)"


def test_an_erased_member_stops_everything() -> None:
    ledger = scene()
    fact = book(ledger)
    ledger.tell("member.erased", member_id="m1", at=NOON + timedelta(minutes=1))
    found = stop(ledger, fact, rule_of("booking.created"))
    assert found is not None
    assert found.reason == "no longer matches (member erased)"


END = timedelta(days=7, hours=22)  # from noon on 4 May UTC to noon on 12 May in Berlin


@pytest.mark.parametrize(("late_by", "stops"), [(timedelta(0), False), (timedelta(seconds=1), True)])
def test_a_retry_never_acts_after_the_end_of_the_booking(late_by: timedelta, stops: bool) -> None:
    ledger = scene()
    found = stop(ledger, book(ledger), rule_of("booking.created"), attempt(2), after=END + late_by)
    assert (found is not None and "the booking is over" in found.reason) is stops


def test_a_first_attempt_may() -> None:
    ledger = scene()
    assert stop(ledger, book(ledger), rule_of("booking.created"), after=END + timedelta(hours=1)) is None


def test_so_may_a_retry_of_what_was_claimed_after_the_end() -> None:
    ledger = scene()
    over = {"starts_at": "2026-05-04T08:00:00+02:00", "ends_at": "2026-05-04T09:00:00+02:00"}
    book(ledger, **over)
    fact = ledger.tell("booking.checked_out", booking_id="b1")
    assert stop(ledger, fact, rule_of("booking.checked_out"), attempt(2), after=timedelta(hours=1)) is None


def test_the_next_action_is_checked_like_the_first() -> None:
    ledger = scene()
    fact = book(ledger, attendees=4)
    ledger.tell("booking.changed", booking_id="b1", attendees=1, at=NOON + timedelta(minutes=1))
    assert stop(ledger, fact, rule_of("booking.created", BIG), acted(status="running")) is not None


def test_what_staff_do_by_hand_is_theirs_to_decide() -> None:
    ledger = scene()
    fact = book(ledger)
    ledger.tell("booking.cancelled", booking_id="b1", at=NOON + timedelta(minutes=1))
    assert stop(ledger, fact, None, origin="staff") is None
