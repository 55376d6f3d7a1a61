"""The action `create_task`."""

from __future__ import annotations

from datetime import datetime

from automations.actions import Action, actions
from automations.ports import FactSource
from automations.resolving import Resolver
from automations.setting_kinds import DueTime, Written
from domain.commands import CreateTask as CreateTaskCommand


@actions.register("create_task")
class CreateTask(Action):
    """Gives staff something to do.

    `title` says what, in the language of the space. `due` is a time after the run, such as `2 hours` or
    `1 day at 12:00`, or an instant, such as `30 minutes before booking.starts_at`. `assignee` is whose task
    it is; without one it is anybody's.

    Example: `create_task: {title: "Clean {{ resource.name }}", due: 1 hour after booking.ends_at}`
    """

    OPERATION = CreateTaskCommand.OPERATION

    title: Written
    due: DueTime | None = None
    assignee: Written | None = None

    def command(self, facts: FactSource, at: datetime) -> CreateTaskCommand:
        """Return the order to open the task."""
        resolve = Resolver(facts, at)
        return CreateTaskCommand(
            entity=resolve.entity,
            member_id=resolve.entity_member,
            title=resolve.staff_text("title", self.title),
            due_at=None if self.due is None else resolve.due("due", self.due),
            assignee=None if self.assignee is None else resolve.name("assignee", self.assignee),
        )
