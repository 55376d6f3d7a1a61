"""Manual operations: what staff ask of a service is claimed like a run of a rule, so that it ends like one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from automations.actions import actions
from domain.commands import Command
from domain.executions import ExecutionStarted, dedupe_key, stream_of
from domain.facts import PersonalRef

STAFF = "staff"
"""The trigger of manual operations."""


@dataclass(frozen=True, slots=True)
class ManualOperation:
    """One thing that somebody of staff asks for; the same idempotency key stands for the same thing."""

    command: Command
    by: str
    idempotency_key: str

    @property
    def key(self) -> str:
        """Return the key of its execution."""
        return dedupe_key("", STAFF, "", self.idempotency_key)


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claim of a manual operation, and the personal values that it refers to."""

    event: ExecutionStarted
    personal: Mapping[PersonalRef, object]


def claim(operation: ManualOperation, at: datetime, day: date) -> Claimed:
    """Return the claim of an operation that nobody has asked for yet; `day` is the date at its space."""
    command = operation.command
    arguments = command.model_dump(mode="json", exclude_none=True)
    stream = stream_of(operation.key)
    private = {name: arguments.pop(name) for name in sorted(type(command).PERSONAL & arguments.keys())}
    event = ExecutionStarted(
        stream=stream,
        version=1,
        at=at,
        rule="",
        rule_version=0,
        trigger=STAFF,
        entity=command.entity,
        occasion=operation.idempotency_key,
        event_date=day,
        origin="staff",
        member=command.member_id,
        actions=(action_of(command.OPERATION),),
        operation=command.OPERATION,
        arguments=arguments,
        personal={name: f"{stream}/1/{name}" for name in private},
        by=operation.by,
    )
    values = {PersonalRef(event.member, f"{stream}/1/{name}"): value for name, value in private.items()}
    return Claimed(event, values)


def is_repeat(first: ExecutionStarted, personal: Mapping[str, object | None], again: Command) -> bool:
    """Say whether a command asks for what was asked for first; what was erased since counts as the same."""
    values: dict[str, Any] = again.model_dump(mode="json", exclude_none=True)
    private = {name: values.pop(name) for name in type(again).PERSONAL & values.keys()}
    same_private = private.keys() == personal.keys() and all(
        value is None or value == private[name] for name, value in personal.items()
    )
    return (first.operation, first.arguments) == (again.OPERATION, values) and same_private


def action_of(operation: str) -> str:
    """Return the name of the action that asks for an operation of a service."""
    found = (name for name in sorted(actions) if operation == actions[name].OPERATION)
    return next(found, operation)
