"""The clock trigger `reminder.due`."""

from __future__ import annotations

from automations.limits import UNTIL_END_OF_DAY
from automations.ports import FactSource
from automations.still_wanted import while_scheduled
from automations.triggers import ClockTrigger, triggers


@triggers.register("reminder.due")
class ReminderDue(ClockTrigger):
    """An occurrence of a reminder is due: the reminder says when, so the rule has no offset.

    Without a limit of its own a rule gives up at the end of the occurrence's day.
    """

    KIND = "reminder"
    ROOTS = ("reminder", "member", "space")
    LIMIT = UNTIL_END_OF_DAY

    @classmethod
    def still_wanted(cls, facts: FactSource) -> str | None:
        """Return a reason if the reminder was completed or cancelled."""
        return while_scheduled(facts)
