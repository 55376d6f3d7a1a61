"""Captured services fail as the scenario says, count what they are asked, and die where it wants."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from adapters.scenarios.captured import Answer, CapturedService, CapturedWebhook, Switchboard
from adapters.scenarios.crashes import Crashed, CrashPoints
from automations.ports import Call
from automations.scenario import CrashPoint, Fault
from automations.scenarios.observed import Calls
from domain.commands import Command, CreateTask
from domain.endings import Done, Refused
from domain.events import Cause

TASK = CreateTask(entity="booking/b1", title="Clean")


def call(key: str = "k/0") -> Call:
    return Call(key, Cause(execution="k"), datetime(2026, 5, 12, tzinfo=UTC))


@dataclass
class Recording:
    """A service that remembers the keys it was called with."""

    answer: Answer = field(default_factory=Done)
    keys: list[str] = field(default_factory=list)
    name: str = "tasks"
    honours_keys: bool = True

    def perform(self, command: Command, call: Call) -> Answer:
        self.keys.append(call.key)
        return self.answer


def captured(inner: Recording, fault: Fault = "ok") -> tuple[CapturedService, Switchboard]:
    """Return a captured service that answers so."""
    switchboard = Switchboard(CrashPoints())
    switchboard.set({"tasks": fault})
    return CapturedService(inner, switchboard), switchboard


@pytest.mark.parametrize(
    ("fault", "kind", "reached"),
    [
        ("ok", "done", True),
        ("unavailable", "try_later", False),
        ("refused", "refused", False),
        ("misconfigured", "misconfigured", False),
        ("times out", "unknown", False),
        ("accepts and times out", "unknown", True),
    ],
)
def test_each_fault_has_its_ending_and_only_some_have_an_effect(fault: Fault, kind: str, reached: bool) -> None:
    inner = Recording()
    service, switchboard = captured(inner, fault)
    assert service.perform(TASK, call()).kind == kind
    assert inner.keys == (["k/0"] if reached else [])
    assert switchboard.calls() == {"tasks.create": Calls(effects=int(reached), attempts=1)}


def test_a_repeated_key_is_one_effect_and_another_attempt() -> None:
    service, switchboard = captured(Recording())
    for key in ("k/0", "k/0", "k/0/2"):
        service.perform(TASK, call(key))
    assert switchboard.calls() == {"tasks.create": Calls(effects=2, attempts=3)}


def test_what_the_service_itself_refuses_had_no_effect() -> None:
    service, switchboard = captured(Recording(answer=Refused(reason="no")))
    assert service.perform(TASK, call()).kind == "refused"
    assert switchboard.calls() == {"tasks.create": Calls(effects=0, attempts=1)}


def test_counts_outlive_the_engine_that_made_the_calls() -> None:
    inner = Recording()
    service, switchboard = captured(inner)
    service.perform(TASK, call())
    CapturedService(inner, switchboard).perform(TASK, call())
    assert switchboard.calls() == {"tasks.create": Calls(effects=1, attempts=2)}


@pytest.mark.parametrize(("point", "attempts"), [("before call", 0), ("after call", 1)])
def test_the_engine_dies_once_at_an_armed_point(point: CrashPoint, attempts: int) -> None:
    service, switchboard = captured(Recording())
    switchboard.crashes.arm(point)
    with switchboard.crashes.engine_at_work(), pytest.raises(Crashed):
        service.perform(TASK, call())
    assert sum(calls.attempts for calls in switchboard.calls().values()) == attempts
    with switchboard.crashes.engine_at_work():
        assert service.perform(TASK, call()).kind == "done"


def test_nobody_but_the_engine_dies() -> None:
    service, switchboard = captured(Recording())
    switchboard.crashes.arm("before call")
    assert service.perform(TASK, call()).kind == "done"


def test_a_webhook_takes_everything_and_knows_no_keys() -> None:
    webhook = CapturedWebhook()
    assert (webhook.perform(TASK, call()).kind, webhook.honours_keys) == ("done", False)
