"""Tasks: something that staff have to do, on account of an entity."""

from __future__ import annotations

from typing import Literal

from domain.fields import Fields, Moment, PersonalText, Text
from domain.ids import Id
from domain.nouns import FactType, Noun, define


class TaskFields(Fields):
    """What is told about a task."""

    task_id: Id | None = None
    member_id: Id | None = None
    entity: Text | None = None
    title: PersonalText | None = None
    due_at: Moment | None = None
    assignee: Text | None = None
    status: Literal["open", "closed"] | None = None


TASK = define(
    Noun(
        kind="task",
        fields=TaskFields,
        types={
            "task.opened": FactType(needs=("task_id", "title"), sets={"status": "open"}),
            "task.closed": FactType(needs=("task_id",), sets={"status": "closed"}),
        },
    )
)
