"""Rules whose services are the operator's own, over HTTP: each action once, whatever becomes of its calls."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from adapters import logs
from adapters.application import Application, embedded_services
from adapters.database.schema import events
from adapters.services.outside import outside_services
from adapters.services.outside_settings import ServiceSettings
from automations.ports import Service
from domain.facts import Fact
from tests.adapters.channels.http_service import DROP, Received
from tests.adapters.services.reference_service import TOKEN, Answer, ReferenceService, once, problem
from tests.adapters.test_no_personal_values import logging_as_it_was as logging_as_it_was  # noqa: PLC0414 - a fixture
from tests.architecture.tree import ROOT
from tests.databases import Databases
from tests.operators import BOOKING, INVOICE, NOON, Operator, event, operator_on, rule, scene

FEE = rule("fee", "booking.created", do=[{"charge_fee": {"amount": "1 EUR", "reason": "desk"}}])
SEMEL = "from adapters.cli.main import run; run()"
LATER = {"starts_at": "2099-05-12T10:00:00+02:00", "ends_at": "2099-05-12T12:00:00+02:00"}


@pytest.fixture
def outside() -> Iterator[ReferenceService]:
    service = ReferenceService()
    yield service
    service.http.close()


@contextmanager
def served(url: str, outside: ReferenceService, **settings: Any) -> Iterator[Operator]:
    """Lend an operator whose billing is outside."""
    given = ServiceSettings.model_validate({"billing": {**outside.settings, **settings}})
    services = outside_services(given)

    def everything(app: Application) -> dict[str, Service]:
        return {**embedded_services(app), **services}

    with operator_on(url, services=everything) as operator:
        operator.record(*scene())
        yield operator
    for service in services.values():
        service.close()


def charged(operator: Operator) -> None:
    operator.save(FEE)
    operator.record(event("booking.created", BOOKING))
    operator.work()


def go_on(operator: Operator) -> str:
    """Let the next attempt be due, and return how the run stands then."""
    operator.clock.advance(timedelta(seconds=11))
    operator.work()
    (run,) = operator.runs()
    return str(run["status"])


def test_what_comes_back_is_known_as_the_work_of_its_rule(database_url: str, outside: ReferenceService) -> None:
    issue = {"issue_invoice": {"total": "5 EUR"}}
    with served(database_url, outside) as operator:
        operator.save(rule("bill", "booking.created", do=[issue]), rule("again", "invoice.issued", do=[issue]))
        operator.record(event("booking.created", BOOKING))
        operator.work()
        (run,) = operator.runs()
        (outcome,) = operator.record(event("invoice.issued", {**INVOICE, "invoice_id": "invoice_id-1"}, at=NOON))
    assert (run["status"], outside.faults) == ("done", [])
    assert isinstance(outcome.fact, Fact)
    assert outcome.fact.cause is not None
    assert (outcome.fact.cause.execution, outcome.fact.cause.rules) == (run["key"], ("bill",))


def test_where_keys_are_honoured_a_lost_answer_is_fetched(database_url: str, outside: ReferenceService) -> None:
    outside.behind = once(DROP)
    with served(database_url, outside) as operator:
        charged(operator)
        assert operator.statuses() == [("fee", "waiting")]
        assert go_on(operator) == "done"
    assert (len(outside.posts), len(outside.effects)) == (2, 1)


def test_where_they_are_not_a_person_decides(database_url: str, outside: ReferenceService) -> None:
    outside.honours_keys = False
    outside.behind = once(DROP)
    with served(database_url, outside) as operator:
        charged(operator)
        assert go_on(operator) == "unknown"
    assert len(outside.posts) == 1


@pytest.mark.parametrize("was_done", [True, False])
def test_where_it_can_be_asked_it_is_not_done_twice(
    database_url: str, outside: ReferenceService, was_done: bool
) -> None:
    outside.honours_keys = False
    outside.before, outside.behind = (outside.before, once(DROP)) if was_done else (once(DROP), outside.behind)
    with served(database_url, outside, look_up=True) as operator:
        charged(operator)
        assert operator.statuses() == [("fee", "waiting")]
        assert go_on(operator) == "done"
    assert len(outside.effects) == 1
    assert len(outside.posts) == (1 if was_done else 2)


def test_as_long_as_it_does_not_say_nothing_is_sent(database_url: str, outside: ReferenceService) -> None:
    outside.honours_keys = False
    outside.before = once(DROP)
    with served(database_url, outside, look_up=True) as operator:
        charged(operator)
        outside.http.answer = problem(404)
        assert go_on(operator) == "waiting"
        assert len(outside.posts) == 1
        assert outside.http.received[-1].path.startswith("/requests/")


def test_the_token_is_in_no_event_and_no_line(
    database_url: str, outside: ReferenceService, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(2)
    answers: list[Answer] = [DROP, problem(503, title=TOKEN), problem(422, title=TOKEN, type=f"https://x/{TOKEN}")]
    outside.before = lambda received: answers.pop(0)
    with served(database_url, outside) as operator:
        charged(operator)
        assert go_on(operator) == "waiting"
        operator.clock.advance(timedelta(seconds=30))
        assert go_on(operator) == "failed"
        kept = [bytes(row["state"]).decode() for row in operator.rows(events)]
    told = capsys.readouterr()
    assert [each for each in (*kept, told.out, told.err) if TOKEN in each] == []
    assert "execution.action-done" in told.err


@pytest.mark.parametrize("ways", [{"honours_keys": True}, {"honours_keys": False, "look_up": True}])
def test_a_worker_killed_after_its_call_leaves_one_effect(
    databases: Databases, outside: ReferenceService, ways: dict[str, Any]
) -> None:
    outside.honours_keys = ways["honours_keys"]
    with databases.fresh(blank=True) as url:
        with operator_on(url) as operator:
            operator.record(*scene())
            operator.save(FEE)
            operator.record(event("booking.created", {**BOOKING, **LATER}))
        victim = work(url, outside, ways)
        outside.behind = killing(victim)
        victim.communicate(timeout=60)
        assert (victim.returncode, len(outside.effects)) == (-signal.SIGKILL, 1)
        _, told = work(url, outside, ways).communicate(timeout=60)
        with operator_on(url) as operator:
            assert operator.statuses() == [("fee", "done")], told.decode()
    assert (len(outside.effects), outside.faults) == (1, [])
    assert len(outside.posts) == (2 if outside.honours_keys else 1)


def work(url: str, outside: ReferenceService, ways: dict[str, Any]) -> subprocess.Popen[bytes]:
    """Start `semel work --until-idle` with the service in its variables."""
    given = {"SEMEL_LEASE_SECONDS": "0.5", "SEMEL_POLL_SECONDS": "0.1"}
    for name, value in {**outside.settings, **ways}.items():
        given[f"SEMEL_SERVICES__BILLING__{name.upper()}"] = value if isinstance(value, str) else json.dumps(value)
    command = [sys.executable, "-c", SEMEL, "work", "--until-idle", "--database", url]
    return subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **given}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def killing(victim: subprocess.Popen[bytes]) -> Any:
    """Return the mood of killing a worker, once, before it hears that it was served."""
    left = [victim]

    def kill(received: Received) -> Answer | None:
        if not left:
            return None
        left.pop().send_signal(signal.SIGKILL)
        return DROP

    return kill
