"""Manual operations: the same services, attempts, retries and dossiers as rules, once for each key."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import date

import pytest

from adapters.database.personal import erase
from adapters.database.schema import queue
from adapters.database.unit_of_work import unit_of_work
from automations.manual_operations import ManualOperation
from automations.ports import Call
from domain.commands import ChargeFee, CreateTask, GrantAccess, IssueInvoice, OfferRenewal
from domain.endings import Ending, Refused, TryLater
from domain.errors import InvalidInput
from domain.executions import ExecutionStarted
from domain.facts import Fact
from domain.money import Money
from tests.adapters.dossiers.office import Office, office_on
from tests.adapters.dossiers.test_keeping import FEE
from tests.operators import NOON, event, operator_on, rule, scene
from tests.scripted import ScriptedService


@pytest.fixture
def office(database_url: str) -> Iterator[Office]:
    """An operator whose services can be made to fail."""
    with office_on(database_url) as lent:
        yield lent


def fee(key: str, amount: str = "5 EUR") -> ManualOperation:
    """Return the order to charge Mia something."""
    command = ChargeFee(entity="member/m1", member_id="m1", amount=Money.parse(amount), reason="Mia lost a key")
    return ManualOperation(command, by="ana", idempotency_key=key)


def test_an_operation_is_an_execution_of_origin_staff_with_one_call(office: Office) -> None:
    performed = office.operator.app.performer().perform(fee("k1"))
    execution = performed.execution
    assert (execution.status, execution.claim.origin, execution.claim.rule) == ("done", "staff", "")
    assert (execution.claim.by, execution.occurrence.event_date) == ("ana", date(2026, 5, 4))
    assert office.switch.calls == [("billing.charge_fee", f"{execution.key}/0")]
    office.work()
    assert office.operator.statuses() == [("", "done")]


def test_the_same_key_does_nothing_a_second_time_and_another_request_is_refused(office: Office) -> None:
    performer = office.operator.app.performer()
    first = performer.perform(fee("k1"))
    again = office.operator.app.performer().perform(fee("k1"))
    assert (again.is_repeat, again.execution.key, len(office.switch.calls)) == (True, first.execution.key, 1)
    with pytest.raises(InvalidInput, match="the idempotency key 'k1' was used for another request"):
        performer.perform(fee("k1", "6 EUR"))
    assert performer.perform(fee("k2")).execution.key != first.execution.key
    assert len(office.switch.calls) == 2


def test_a_repeat_after_an_erasure_is_a_repeat_still(office: Office) -> None:
    office.operator.app.performer().perform(fee("k1"))
    with unit_of_work(office.operator.app.log) as work:
        erase(work.connection, "m1")
    assert office.operator.app.performer().perform(fee("k1")).is_repeat


def test_what_was_asked_for_stands_in_the_claim_and_its_words_do_not(office: Office) -> None:
    office.operator.app.performer().perform(fee("k1"))
    (claim,) = [each for each in office.operator.events() if isinstance(each, ExecutionStarted)]
    assert (claim.operation, claim.arguments["amount"]) == ("billing.charge_fee", "5.00 EUR")
    assert "lost" not in claim.model_dump_json()
    assert list(claim.personal) == ["reason"]


def test_what_the_service_cannot_do_now_is_tried_again_like_any_run(office: Office) -> None:
    office.switch.answers["billing"] = TryLater(reason="busy")
    performed = office.operator.app.performer().perform(fee("k1"))
    assert performed.execution.status == "waiting"
    office.switch.answers.clear()
    office.later(seconds=10)
    assert office.operator.statuses() == [("", "done")]
    assert len(set(office.switch.keys("billing.charge_fee"))) == 1


def test_a_failure_stands_in_the_dossier_of_its_cause_and_is_retried_from_there(office: Office) -> None:
    office.operator.save(rule("fee", "booking.created", do=[FEE]))
    office.switch.answers["billing"] = Refused(reason="no")
    office.book(1)
    office.operator.app.performer().perform(fee("k1"))
    office.work()
    assert len(office.dossier().runs) == 2
    office.switch.answers.clear()
    assert [each.refused for each in office.act_on_all("retry")] == ["", ""]
    assert [status for _, status in office.operator.statuses()] == ["done", "done"]
    assert office.dossiers() == []


def test_a_retry_of_what_was_erased_meanwhile_fails_with_that_reason(office: Office) -> None:
    office.switch.answers["billing"] = Refused(reason="no")
    performed = office.operator.app.performer().perform(fee("k1"))
    office.work()
    office.operator.record(event("member.erased", {"member_id": "m1"}))
    office.act("retry", performed.execution.key)
    (run,) = office.operator.runs()
    assert (run["status"], run["reason"]) == ("failed", "what it was to be called with has been erased")


def test_the_member_is_that_of_the_entity_where_none_is_named(office: Office) -> None:
    started = {"subscription_id": "s1", "space_id": "mitte", "member_id": "m1", "plan": "desk"}
    dates = {"starts_on": "2026-01-01", "ends_on": "2026-12-31"}
    office.operator.record(event("subscription.started", {**started, **dates}))
    office.book(1)
    performer = office.operator.app.performer()
    orders = [
        OfferRenewal(entity="subscription/s1"),
        CreateTask(entity="booking/b1", title="Call her"),
        GrantAccess(entity="booking/b1", door="d1", valid_from=NOON, valid_until=NOON.replace(hour=14)),
        IssueInvoice(entity="booking/b1", space_id="mitte", total=Money.parse("50 EUR"), due_on=date(2026, 8, 1)),
    ]
    done = [performer.perform(ManualOperation(each, "ana", each.OPERATION)).execution for each in orders]
    assert [execution.status for execution in done] == ["done"] * 4
    facts = [each for each in office.operator.events() if isinstance(each, Fact) and each.cause is not None]
    assert {each.data["member_id"] for each in facts} == {"m1"}
    assert {each.cause.rules for each in facts if each.cause} == {()}


def test_rules_run_for_what_staff_did_as_for_anything_from_outside(office: Office) -> None:
    office.operator.save(rule("look", "invoice.issued"))
    command = IssueInvoice(
        entity="member/m1", member_id="m1", space_id="mitte", total=Money.parse("50 EUR"), due_on=date(2026, 8, 1)
    )
    office.operator.app.performer().perform(ManualOperation(command, "ana", "k1"))
    office.work()
    assert ("look", "done") in office.operator.statuses()


def test_an_operation_can_be_repeated_on_purpose(office: Office) -> None:
    key = office.operator.app.performer().perform(fee("k1")).execution.key
    office.act("run-again", key, reason="two keys")
    assert office.switch.keys("billing.charge_fee") == [f"{key}/0", f"{key}/0/2"]
    assert office.operator.topics().count("fee.charged") == 2


def test_signs_of_life_are_given_while_a_call_takes_its_time(database_url: str) -> None:
    seen: list[int] = []

    def wait_for_signs(call: Call) -> Ending | None:
        patience = time.monotonic() + 20
        while len(set(seen)) < 3 and time.monotonic() < patience:
            seen.extend(row["beat"] for row in operator.rows(queue))
            threading.Event().wait(0.02)
        return None

    slow = ScriptedService("billing", during=wait_for_signs)
    with operator_on(database_url, services=slow.among_the_others(), lease_seconds=0.2) as operator:
        operator.record(*scene())
        performed = operator.app.performer().perform(fee("k1"))
        assert performed.execution.status == "done"
    assert len(set(seen)) == 3
    assert not [thread for thread in threading.enumerate() if thread.name == "semel-heartbeat"]
