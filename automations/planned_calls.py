"""What the actions of a rule would ask their services for, shown and never called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from automations.actions import actions
from automations.candidates import Candidate
from automations.ports import PersonalValues
from automations.preparing import made, operation_of
from automations.situation import Situation, World
from domain.endings import Refused
from domain.facts import PersonalRef
from domain.rules import Step

ERASED = "erased"
"""What readers see in place of a personal value that is no more."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A service operation with its arguments, or why it could not be asked for."""

    action: str
    operation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        shown = {"action": self.action, "operation": self.operation, "arguments": dict(self.arguments)}
        return {**shown, "fault": self.fault} if self.fault else shown


@dataclass(frozen=True, slots=True)
class _Shown:
    """Personal values as readers see them (implements `ports.PersonalValues`)."""

    values: PersonalValues

    def read(self, reference: PersonalRef) -> object | None:
        """Return the value as it is now, or that it was erased."""
        value = self.values.read(reference)
        return ERASED if value is None else value


def planned_calls(candidate: Candidate, world: World, at: datetime) -> tuple[PlannedCall, ...]:
    """Return what each action of a candidate's rule would ask for, if it was claimed at an instant."""
    seen = replace(world, personal=_Shown(world.personal))
    situation = seen.situation(candidate.entity, candidate.due or at, candidate.event)
    return tuple(_planned(step, situation, at) for step in candidate.rule.rule.do)


def _planned(step: Step, situation: Situation, at: datetime) -> PlannedCall:
    def command() -> Any:
        return actions[step.action].model_validate(step.settings).command(situation, at.astimezone(situation.zone))

    found = made(command)
    operation = operation_of(step.action)
    if isinstance(found, Refused):
        return PlannedCall(step.action, operation, fault=found.reason)
    return PlannedCall(step.action, operation, found.model_dump(mode="json", exclude_none=True))
