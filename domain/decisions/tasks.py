"""Tasks: something that staff have to do."""

from __future__ import annotations

from domain.commands import CreateTask
from domain.decisions import Decided, Ground, Operation, as_data, id_made_of, made_by_key
from domain.endings import Refused


def create(command: CreateTask, key: str, _ground: Ground) -> Decided | Refused:
    """Decide on a task. That its member was erased does not stop it: a room is cleaned after anybody."""
    if not command.title.strip():
        return Refused(reason=f"the task for {command.entity} has no title", at_fault="rule")
    data = as_data(
        task_id=id_made_of("task", key),
        member_id=command.member_id,
        entity=command.entity,
        title=command.title,
        due_at=command.due_at,
        assignee=command.assignee,
    )
    return Decided("task.opened", data)


OPERATIONS = (Operation(CreateTask, made_by_key("task"), create, ("task_id",)),)
