"""Whatever goes wrong around a personal value: no event, trace or line of the log holds it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import psycopg
import pytest
import structlog

from adapters import logs
from adapters.database import traces
from adapters.database.engine import reading
from adapters.database.failures import Unstorable, translated
from adapters.database.schema import events
from automations.ports import Call
from domain.endings import Ending
from tests.operators import BOOKING, MIA, Operator, event, operator_on, rule, scene
from tests.scripted import ScriptedService

SECRET = "Zquux the Secret"


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    before, handlers = structlog.get_config(), logging.getLogger().handlers[:]
    yield
    structlog.configure(**before)
    logging.getLogger().handlers[:] = handlers


def break_off(call: Call) -> Ending | None:
    raise RuntimeError(f"the door of {SECRET} is stuck")


def trouble(operator: Operator) -> None:
    """Have a call break off, a template come to nothing, conditions say no, and a setting be unfit."""
    task = {"create_task": {"title": "Hello {{ member.name }}"}}
    operator.save(
        rule("calls", "booking.created", do=[task]),
        rule("fills", "booking.created", do=[{"create_task": {"title": "{{ member.name | uniq: 'x' }}"}}]),
        rule("names", "booking.created", do=[{"notify": {"type": "a", "to": "{{ member.name }}"}}]),
        rule("pays", "booking.created", do=[{"charge_fee": {"amount": "{{ member.name | upcase }}", "reason": "x"}}]),
        rule("says-no", "booking.created", "member.name is Ada"),
        rule("starts", "booking.created", "member.company starts with A", "member.name contains zz"),
    )
    operator.record(event("booking.created", BOOKING))
    operator.work()
    operator.follow()


def test_no_personal_value_is_in_events_traces_or_the_log(
    database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(2)
    tasks = ScriptedService("tasks", during=break_off)
    with operator_on(database_url, services=tasks.among_the_others()) as operator:
        operator.record(*scene(), event("member.changed", {"member_id": "m1", "name": SECRET, "company": SECRET}))
        trouble(operator)
        kept = [bytes(row["state"]).decode() for row in operator.rows(events)]
        with reading(operator.app.engine) as connection:
            kept += [json.dumps(row["verdicts"], default=str) for row in traces.of_entity(connection, "booking/b1")]
        reasons = {run["rule"]: run["reason"] for run in operator.runs()}
    assert reasons["calls"] == "the call broke off: RuntimeError"
    assert set(reasons) == {"calls", "fills", "names", "pays"}
    assert [each for each in kept if "zquux" in each.lower()] == []
    told = capsys.readouterr()
    assert "call.broke-off" in told.err
    assert "zquux" not in f"{told.out}{told.err}".lower()


def test_conditions_that_cannot_be_evaluated_do_not_repeat_what_they_saw(
    database_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.configure(2)

    def fail(*given: object, **named: object) -> None:
        raise ValueError(f"cannot compare {SECRET}")

    with operator_on(database_url) as operator:
        operator.record(*scene(), event("member.changed", {**MIA, "name": SECRET}))
        monkeypatch.setattr("automations.evaluator.member_of", fail)
        operator.save(rule("broken", "booking.created", "member.name contains Zquux"))
        operator.record(event("booking.created", BOOKING))
        operator.work()
        operator.follow()
        (run,) = operator.runs()
        kept = [bytes(row["state"]).decode() for row in operator.rows(events)]
    assert (run["status"], run["reason"]) == ("failed", "could not be evaluated: ValueError")
    assert not [each for each in kept if SECRET in each]
    assert SECRET not in capsys.readouterr().err


def test_what_a_database_quotes_is_left_out() -> None:
    error = psycopg.errors.InvalidTextRepresentation(f'invalid input syntax for type bigint: "{SECRET}"')
    with pytest.raises(Unstorable) as raised, translated("here"):
        raise error
    assert str(raised.value) == "here: invalid input syntax for type bigint: …"
