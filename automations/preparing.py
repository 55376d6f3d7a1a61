"""An action is made ready to be called: what its service is asked to do, and what goes with the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from automations.actions import actions
from automations.lanes import NO_LANE, Lane
from automations.ports import Call, PersonalValues, Service
from automations.recheck import Look
from automations.registry import UnknownName
from automations.situation import Situation
from automations.telling import told_error
from domain.commands import Command, command_of
from domain.endings import Refused, TryLater
from domain.errors import InvalidInput
from domain.events import Cause
from domain.executions import ActionDone, Execution, ExecutionStarted, stream_of
from domain.facts import PersonalRef
from domain.rules import Step


@dataclass(frozen=True, slots=True)
class Prepared:
    """An action that is ready to be called, or that ends without a call: then `ending` says how.

    `lane` is what is known of its service.
    """

    step: Step
    call: Call
    is_last: bool
    command: Command | None = None
    service: Service | None = None
    ending: Refused | TryLater | None = None
    lane: Lane = NO_LANE

    @property
    def operation(self) -> str:
        """Return the name of the service operation."""
        return self.command.OPERATION if self.command is not None else operation_of(self.step.action)


def operation_of(action: str) -> str:
    """Return the service operation of an action; of one whose plug-in is gone, its own name."""
    plugin = actions.get(action)
    return plugin.OPERATION if plugin is not None else action


def service_of(execution: Execution) -> str:
    """Return the name of the service of the present action, which is that of its lane too."""
    return operation_of(execution.occurrence.actions[execution.action]).partition(".")[0]


def unprepared(execution: Execution, step: Step | None, at: datetime) -> Prepared:
    """Return a step of an execution with what goes with its call, and nothing to call yet."""
    chain = execution.occurrence.cause.rules if execution.occurrence.cause else ()
    rules = (*chain, execution.claim.rule) if execution.claim.rule else chain
    by = execution.occurrence.by if execution.claim.origin == "staff" else ""
    call = Call(execution.idempotency_key, Cause(execution=execution.key, rules=rules), at, by, execution.attempt)
    step = step or Step(action=execution.occurrence.actions[execution.action])
    return Prepared(step, call, is_last=execution.is_last_action)


def prepare(
    execution: Execution, look: Look, situation: Situation | None, services: Mapping[str, Service], at: datetime
) -> Prepared:
    """Return the present action ready to be called; a manual operation needs no situation."""
    step = None
    if look.rule is not None:
        step = look.rule.state.wordings[execution.occurrence.rule_version].do[execution.action]
    prepared = unprepared(execution, step, at)
    command = made(lambda: _command(execution, look, situation, prepared.step))
    if isinstance(command, Refused):
        return replace(prepared, ending=command)
    service = services.get(command.service)
    if service is None:
        reason = f"no service is set up: {command.service}"
        return replace(prepared, ending=Refused(reason=reason, at_fault="rule"))
    return replace(prepared, command=command, service=service)


def made(make: Callable[[], Command]) -> Command | Refused:
    """Return a command, or why the rule's settings do not come to one; the words hold no value of a setting."""
    try:
        return make()
    except UnknownName as error:
        return Refused(reason=str(error), at_fault="rule")
    except ValidationError as error:
        return Refused(reason=_faults(error), at_fault="rule")
    except (InvalidInput, LookupError, ValueError) as error:
        return Refused(reason=told_error(error), at_fault="rule")


def parted(
    execution: Execution, command: Command | None
) -> tuple[dict[str, Any], dict[str, tuple[PersonalRef, object]]]:
    """Return what was called with: open values as they are, personal ones each with its reference."""
    if command is None:
        return {}, {}
    values = command.model_dump(mode="json", exclude_none=True)
    prefix = f"{stream_of(execution.key)}/{execution.version + 1}"
    member = whose(execution, command)
    personal = {
        name: (PersonalRef(member, f"{prefix}/{name}"), values.pop(name))
        for name in type(command).PERSONAL & values.keys()
    }
    return values, personal


def whose(execution: Execution, command: Command | None) -> str:
    """Return the member among whose values the personal ones of a call lie, empty where there is nobody."""
    return execution.occurrence.member or (command.member_id if command is not None else "")


def _command(execution: Execution, look: Look, situation: Situation | None, step: Step) -> Command:
    recorded = _recorded(execution)
    if recorded is not None:
        command = _read(recorded, recorded.member, look.world.personal)
        if command is not None:
            return command
    if situation is None:
        raise InvalidInput("what it was to be called with has been erased")
    claimed_at = execution.occurrence.at.astimezone(situation.zone)
    return actions[step.action].model_validate(step.settings).command(situation, claimed_at)


def _recorded(execution: Execution) -> ActionDone | ExecutionStarted | None:
    """Return where the command stands: with the order of staff, or with a call whose outcome is unknown.

    Under the same key the same is asked for again.
    """
    if execution.claim.origin == "staff":
        return execution.claim
    sent = execution.sent
    is_same = sent is not None and sent.action == execution.action and sent.series == execution.series
    return sent if is_same else None


def _read(recorded: ActionDone | ExecutionStarted, member: str, personal: PersonalValues) -> Command | None:
    """Return a command that was recorded, or None where its personal values were erased since."""
    values = {name: personal.read(PersonalRef(member, ref)) for name, ref in recorded.personal.items()}
    if any(value is None for value in values.values()):
        return None
    return command_of(recorded.operation, {**recorded.arguments, **values})


def _faults(error: ValidationError) -> str:
    """Return what is wrong with the values of a command, without the values: they may be personal."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found)
