"""What is expected, read from a scenario file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast, get_args

from automations.actions import actions
from automations.mistakes import Path
from automations.registry import nearest
from automations.scenario import CHANNELS
from automations.scenarios.expectations import (
    Expectations,
    ExpectedCalls,
    ExpectedDelivery,
    ExpectedDossier,
    ExpectedDue,
    ExpectedMessage,
    ExpectedRun,
)
from automations.scenarios.parts import Part, Reading
from domain.executions import Status
from domain.ids import id_of, kind_of
from domain.notifications import STAFF, is_recipient
from domain.nouns import NOUNS
from domain.text_values import shown

STATUSES: tuple[str, ...] = get_args(Status)
"""What can have become of a run."""

DELIVERY_STATUSES = (
    "pending",
    "held",
    "sending",
    "retrying",
    "sent",
    "delivered",
    "bounced",
    "complained",
    "no_receipt",
    "skipped",
    "expired",
    "cancelled",
    "failed",
    "unknown",
)
"""What can have become of a delivery."""

KEYS = (
    "runs",
    "runs_include",
    "counts",
    "calls",
    "messages",
    "notices",
    "deliveries",
    "dossiers",
    "will_run",
)
"""What an `expect` may hold."""

T = TypeVar("T")


def read_expectations(data: object, path: Path, reading: Reading) -> Expectations:
    """Return what one `expect` says; what is wrong leaves mistakes."""
    part = reading.part(data, path, f"expect is a mapping with {', '.join(KEYS)}")
    if part is None:
        return Expectations(path)
    part.only(KEYS)
    return Expectations(
        path,
        runs=_list(part, "runs", _run),
        runs_include=_list(part, "runs_include", _run) or (),
        counts=_counts(part, "counts", STATUSES),
        **_calls(part),
        messages=_list_or_number(part, "messages", _message),
        notices=_list_or_number(part, "notices", _message),
        deliveries=_deliveries(part),
        dossiers=_list_or_number(part, "dossiers", _dossier),
        will_run=_list(part, "will_run", _due),
    )


def read_entity(part: Part, name: str = "entity") -> str:
    """Return an entity such as `booking/b1`."""
    found = part.text(name)
    if not found:
        return ""
    if kind_of(found) not in NOUNS or not id_of(found):
        part.mistake(name, f"{shown(found)} is not an entity: write it like booking/b1")
    return found


def _list(part: Part, name: str, read: Callable[[Part], T]) -> tuple[T, ...] | None:
    if name not in part.data:
        return None
    expected = []
    for item, path in part.reading.items(part.data[name], (*part.path, name), f"{name} are a list"):
        line = part.reading.part(item, path, f"each of {name} is a mapping")
        if line is not None:
            expected.append(read(line))
    return tuple(expected)


def _list_or_number(part: Part, name: str, read: Callable[[Part], T]) -> tuple[T, ...] | int | None:
    if isinstance(part.given(name), int):
        return part.count(name)
    return _list(part, name, read)


def _run(part: Part) -> ExpectedRun:
    part.only(("rule", "entity", "status", "date", "at", "late", "reason_contains", "times"))
    return ExpectedRun(
        part.path,
        rule=part.rule(),
        entity=read_entity(part),
        status=cast(Status, part.one_of("status", STATUSES) or None),
        date=part.day("date"),
        at=part.written("at"),
        late=part.flag("late", default=False) if "late" in part.data else None,
        reason_contains=part.words("reason_contains"),
        times=part.times(),
    )


def _message(part: Part) -> ExpectedMessage:
    part.only(("to", "channel", "type", "at", "text_contains", "times"))
    return ExpectedMessage(
        part.path,
        to=_recipient(part),
        channel=part.one_of("channel", CHANNELS),
        type=part.text("type"),
        at=part.written("at"),
        text_contains=part.words("text_contains"),
        times=part.times(),
    )


def _delivery(part: Part) -> ExpectedDelivery:
    part.only(("status", "reason", "to", "channel", "type", "at", "times"))
    return ExpectedDelivery(
        part.path,
        status=part.one_of("status", DELIVERY_STATUSES),
        reason=part.text("reason"),
        to=_recipient(part),
        channel=part.one_of("channel", CHANNELS),
        type=part.text("type"),
        at=part.written("at"),
        times=part.times(),
    )


def _dossier(part: Part) -> ExpectedDossier:
    part.only(("service", "rule", "runs", "times"))
    return ExpectedDossier(
        part.path,
        service=part.text("service"),
        rule=part.rule(),
        runs=part.count("runs", least=0),
        times=part.times(),
    )


def _due(part: Part) -> ExpectedDue:
    part.only(("entity", "rule", "at", "times"))
    return ExpectedDue(part.path, read_entity(part), part.rule(), part.written("at"), part.times())


def _recipient(part: Part) -> str:
    found = part.text("to")
    if found and not is_recipient(found):
        part.mistake("to", f"{shown(found)} is nobody to tell: write {STAFF}, or a member like member/m1")
    return found


def _deliveries(part: Part) -> Any:
    if isinstance(part.given("deliveries"), dict):
        return _counts(part, "deliveries", DELIVERY_STATUSES)
    return _list_or_number(part, "deliveries", _delivery)


def _counts(part: Part, name: str, statuses: tuple[str, ...]) -> dict[str, int] | None:
    if part.given(name) is None:
        return None
    counted = part.reading.part(part.data[name], (*part.path, name), f"{name} are a mapping from statuses to numbers")
    if counted is None:
        return None
    counted.only(statuses)
    numbers = {status: counted.count(status) for status in counted.data if status in statuses}
    return {status: number for status, number in numbers.items() if number is not None}


def _calls(part: Part) -> dict[str, Any]:
    """Return the expected calls, and whether there may be none at all."""
    if part.given("calls") is None:
        return {}
    what = "calls are a mapping from operations to numbers"
    calls = part.reading.part(part.data["calls"], (*part.path, "calls"), what)
    if calls is None:
        return {}
    expected = [_call(calls, name) for name in calls.data if name != "none"]
    return {
        "calls": tuple(call for call in expected if call is not None),
        "no_calls": calls.flag("none", default=False),
    }


def _call(calls: Part, operation: str) -> ExpectedCalls | None:
    path, known = (*calls.path, operation), operations()
    if operation not in known:
        hint = nearest(operation, known)
        calls.key_mistake(operation, f"no service has the operation {shown(operation)}{hint}")
        return None
    if not isinstance(calls.data[operation], dict):
        return ExpectedCalls(path, operation, effects=calls.count(operation))
    both = Part(calls.data[operation], path, calls.reading)
    both.only(("effects", "attempts"))
    return ExpectedCalls(path, operation, both.count("effects"), both.count("attempts"))


def operations() -> tuple[str, ...]:
    """Return every operation that an action asks of a service."""
    return tuple(dict.fromkeys(action.OPERATION for action in actions.values()))
