"""Events that come back from outside are tied to the execution that made them happen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from adapters.application import Application, embedded_services
from adapters.database import returned_ids
from automations.ports import Call, Service
from domain.commands import Command
from domain.endings import Done
from domain.facts import Fact
from tests.operators import INVOICE, NOON, Event, Operator, event, operator_on, rule, scene

AGAIN = {"issue_invoice": {"total": "5 EUR"}}


class Outside:
    """Billing software of somebody else: it returns ids, and its events come back by themselves."""

    name = "billing"
    honours_keys = True

    def perform(self, command: Command, call: Call) -> Done:
        return Done(result={"invoice_id": f"out-{call.key[:6]}", "number": "2026-1", "booking_id": ""})


def outside_billing(application: Application) -> Mapping[str, Service]:
    return {**embedded_services(application), "billing": Outside()}


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    """An operator whose billing is somewhere else, with a rule that would never stop by itself."""
    with operator_on(database_url, services=outside_billing) as lent:
        lent.record(*scene())
        lent.save(rule("again", "invoice.issued", do=[AGAIN]), rule("look", "invoice.issued"))
        lent.record(event("invoice.issued", INVOICE))
        lent.work()
        yield lent


def returned(operator: Operator) -> str:
    """Return the id that the call of the first run returned."""
    (run,) = operator.runs(rule="again", entity="invoice/i1")
    return f"out-{run['key'][:6]}"


def come_back(operator: Operator, fact_type: str = "invoice.issued", **attributes: Any) -> Fact:
    """Record that the invoice was issued, as the billing software tells it, and work."""
    data: Event = {**INVOICE, "invoice_id": returned(operator)}
    (outcome,) = operator.record(event(fact_type, data, **attributes))
    operator.work()
    assert isinstance(outcome.fact, Fact)
    return outcome.fact


def test_an_event_that_names_an_id_a_call_returned_is_the_work_of_that_execution(operator: Operator) -> None:
    fact = come_back(operator)
    (run,) = operator.runs(rule="again")
    assert fact.cause is not None
    assert (fact.cause.execution, fact.cause.rules) == (run["key"], ("again",))
    assert operator.statuses(entity=fact.stream) == [("look", "done")]


def test_so_is_one_that_hands_the_idempotency_key_back(operator: Operator) -> None:
    (run,) = operator.runs(rule="again")
    data = {**INVOICE, "invoice_id": "i77"}
    operator.record(event("invoice.issued", data, idempotencykey=f"{run['key']}/0"))
    operator.work()
    assert operator.statuses(entity="invoice/i77") == [("look", "done")]


def test_a_payment_of_it_is_somebody_elses_doing(operator: Operator) -> None:
    paid = {"payment_id": "p1", "invoice_id": returned(operator), "amount": "5 EUR"}
    (outcome,) = operator.record(event("payment.received", paid))
    assert isinstance(outcome.fact, Fact)
    assert outcome.fact.cause is None


@pytest.mark.parametrize(("minutes", "is_tied"), [(-2, False), (-1, True), (0, True), (60, True), (61, False)])
def test_only_what_happened_soon_after_the_call_is_its_work(operator: Operator, minutes: int, is_tied: bool) -> None:
    fact = come_back(operator, at=NOON + timedelta(minutes=minutes))
    assert (fact.cause is not None) is is_tied


def test_another_id_is_nobodys_work(operator: Operator) -> None:
    (outcome,) = operator.record(event("invoice.issued", {**INVOICE, "invoice_id": "i2"}))
    operator.work()
    assert isinstance(outcome.fact, Fact)
    assert outcome.fact.cause is None
    assert ("again", "done") in operator.statuses(entity="invoice/i2")


def test_an_id_is_forgotten_when_no_event_can_come_back_any_more(operator: Operator) -> None:
    assert [row["entity"] for row in operator.rows(returned_ids.returned_ids)] == [f"invoice/{returned(operator)}"]
    operator.clock.set(NOON + timedelta(hours=3))
    worker = operator.app.worker()
    worker.work_until_idle()
    worker.tick()
    assert operator.rows(returned_ids.returned_ids) == []
