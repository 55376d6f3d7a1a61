"""Reports of providers come to the same in any order and number (delivery trials D1, N14, N16)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations, product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automations.notifications.callbacks import (
    Kind,
    Receipt,
    code_of,
    has_to_wait,
    objections_to,
    steps_after_receipt,
    steps_after_silence,
    wait_before_look,
)
from domain.deliveries import ARROWS, Delivery, DeliveryPending, DeliverySent, State, delivery_stream
from domain.delivery_receipts import REPORTED
from domain.suppressions import Scope

AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
FOUR: tuple[Kind, ...] = ("sent", "delivered", "bounced", "complained")


def delivery(state: State = "sent", lane: str = "transactional") -> Delivery:
    asked = DeliveryPending.model_validate(
        {
            "stream": delivery_stream("n1", "email", "member/m1"),
            "version": 1,
            "at": AT,
            "notification": "n1",
            "producer": "tests",
            "type": "news",
            "to": "member/m1",
            "channel": "email",
            "address": "member/m1",
            "lane": lane,
            "requested_at": AT,
            "expires_at": AT + timedelta(days=1),
        }
    )
    return replace(Delivery("d1", 3, asked, AT), state=state, attempts=1)


def after(found: Delivery, *kinds: Kind) -> Delivery:
    for kind in kinds:
        for step in steps_after_receipt(found, Receipt(kind, "p1"), source="tests/1", at=AT):
            assert step.STATE in ARROWS[found.state]
            found = found.after(step)
    return found


@pytest.mark.parametrize("order", list(permutations(FOUR)), ids=" ".join)
@pytest.mark.parametrize("before", ["sent", "no_receipt", "unknown"])
def test_d1_all_orders_of_the_four_end_as_complained(before: State, order: tuple[Kind, ...]) -> None:
    assert after(delivery(before), *order).state == "complained"


@given(st.lists(st.sampled_from(get_args(Kind)), max_size=12), st.randoms(use_true_random=False))
def test_any_order_and_number_of_reports_ends_in_the_same_state(kinds: list[Kind], random: object) -> None:
    shuffled = sorted([*kinds, *kinds[:3]], key=lambda _: random.random())  # type: ignore[attr-defined]
    for before in ("sent", "no_receipt", "unknown"):
        assert after(delivery(before), *kinds).state == after(delivery(before), *shuffled).state


@pytest.mark.parametrize(("first", "then"), list(product(REPORTED[1:], REPORTED[1:])))
def test_what_weighs_more_stands(first: Kind, then: Kind) -> None:
    heavier = max(first, then, key=REPORTED.index)
    assert after(delivery(), first, then).state == heavier


def test_a_report_about_a_message_in_doubt_says_that_it_was_sent() -> None:
    steps = steps_after_receipt(delivery("unknown"), Receipt("delivered", "p1"), source="tests/1", at=AT)
    assert [step.STATE for step in steps] == ["sent", "delivered"]
    assert isinstance(steps[0], DeliverySent)
    assert steps[0].provider_message_id == "p1"


@pytest.mark.parametrize(
    "state", ["failed", "skipped", "expired", "cancelled", "pending", "held", "retrying", "sending"]
)
def test_nothing_follows_for_what_was_never_sent(state: State) -> None:
    assert steps_after_receipt(delivery(state), Receipt("delivered"), source="tests/1", at=AT) == []


@pytest.mark.parametrize("kind", ["delayed", "opened", "opt_out", "sent"])
def test_what_is_no_end_changes_no_state(kind: Kind) -> None:
    assert steps_after_receipt(delivery(), Receipt(kind), source="tests/1", at=AT) == []


def test_a_report_waits_while_the_call_is_not_over() -> None:
    waiting = {state for state in (*ARROWS, "failed", "skipped") if has_to_wait(delivery(state))}
    assert waiting == {"pending", "held", "retrying", "sending"}


def test_silence_ends_once_and_only_for_what_was_sent() -> None:
    [step] = steps_after_silence(delivery(), AT)
    assert step.reason == "no report in 72 hours"
    assert steps_after_silence(delivery("delivered"), AT) == []
    assert after(delivery().after(step), "delivered").state == "delivered"


def test_n16_a_time_without_a_zone_is_kept_as_it_was_given_and_marked() -> None:
    receipt = Receipt("delivered", "p1", told_at="2610250230")
    [step] = steps_after_receipt(delivery(), receipt, source="twilio/1", at=AT)
    assert (step.at, step.told_at, step.zone_assumed) == (AT, "2610250230", True)  # type: ignore[attr-defined]
    assert not Receipt("delivered", told_at="2026-10-25T02:30:00+01:00").zone_assumed


def test_only_a_hard_bounce_is_held_against_an_address() -> None:
    hard, soft = Receipt("bounced", bounce="hard", detail="5.1.1"), Receipt("bounced", bounce="soft")
    [objection] = objections_to(hard, delivery())
    assert (objection.why, objection.scope, objection.detail) == ("hard_bounce", Scope(), "5.1.1")
    assert objections_to(soft, delivery()) == []
    assert objections_to(Receipt("delayed", detail="4.4.1"), delivery()) == []


def test_a_complaint_about_bulk_ends_what_is_bulk_and_any_other_everything() -> None:
    bulk = objections_to(Receipt("complained"), delivery(lane="bulk"), ["offers"])
    assert [each.scope for each in bulk] == [Scope(type="news"), Scope(type="offers")]
    assert [each.scope for each in objections_to(Receipt("complained"), delivery(), ["offers"])] == [Scope()]


def test_an_opt_out_is_about_its_sender_or_else_about_the_type() -> None:
    [of_sender] = objections_to(Receipt("opt_out", sender="+34911"), delivery())
    [of_type] = objections_to(Receipt("opt_out"), delivery())
    assert (of_sender.scope, of_type.scope) == (Scope(sender="+34911"), Scope(type="news"))


def test_a_code_is_kept_and_a_text_is_not() -> None:
    assert [code_of(each) for each in ("5.1.1", 30003, "mia@example.org unknown", None)] == ["5.1.1", "30003", "", ""]


def test_looks_become_rarer_and_never_end() -> None:
    waits = [wait_before_look(attempt) for attempt in range(1, 40)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (timedelta(seconds=1), timedelta(days=1))


def test_what_no_database_can_hold_is_left_out_of_a_report() -> None:
    wrong = Receipt("delivered", "p1\0", "d1", "mia@example.org" + "x" * 400, detail="\ud800", told_at="now")
    assert wrong.cleaned() == Receipt("delivered", "", "d1", told_at="now")
