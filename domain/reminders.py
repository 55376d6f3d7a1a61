"""Reminders: a calendar that tells somebody about something, once or again and again."""

from __future__ import annotations

from datetime import time
from typing import Literal
from zoneinfo import ZoneInfo

from domain.civil_time import Zone, zone
from domain.fields import ClockTime, Day, DayOrMoment, Fields, PersonalText, Text, Texts
from domain.ids import Id
from domain.nouns import FactType, Noun, define
from domain.recurrence_rules import rule_text
from domain.recurrences import Recurrence
from domain.time_texts import parse_clock_time

REMEMBERED = frozenset({"at", "due_on", "recurrence", "starts_on", "time_zone", "status"})
"""What makes a calendar: its earlier values say what was due before they were changed."""


class ReminderFields(Fields):
    """What is told about a reminder: due once on a date, or by an RFC 5545 recurrence."""

    reminder_id: Id | None = None
    member_id: Id | None = None
    about: PersonalText | None = None
    at: ClockTime | None = None
    due_on: Day | None = None
    recurrence: Text | None = None
    starts_on: Day | None = None
    space_id: Id | None = None
    time_zone: Zone | None = None
    channels: Texts | None = None
    status: Literal["scheduled", "completed", "cancelled"] | None = None


class CompletionFields(Fields):
    """What is told about one occurrence that is done; without `due_on` it is the current one."""

    reminder_id: Id | None = None
    due_on: Day | None = None


class SnoozeFields(Fields):
    """What is told about one occurrence that is put off; a date means the reminder's clock time on it."""

    reminder_id: Id | None = None
    until: DayOrMoment | None = None


REMINDER = define(
    Noun(
        kind="reminder",
        fields=ReminderFields,
        types={
            "reminder.scheduled": FactType(
                needs=("reminder_id", "member_id", "about", "at"), defaults={"status": "scheduled"}
            ),
            "reminder.changed": FactType(needs=("reminder_id",)),
            "reminder.completed": FactType(needs=("reminder_id",), part="completion", fields=CompletionFields),
            "reminder.snoozed": FactType(needs=("reminder_id", "until"), part="snooze", fields=SnoozeFields),
            "reminder.cancelled": FactType(needs=("reminder_id",), sets={"status": "cancelled"}),
        },
        remembers=REMEMBERED,
    )
)


def faults_of(fact_type: str, fields: ReminderFields) -> list[tuple[str, str]]:
    """Return what is wrong among a reminder's own values: the field, and the fault in words."""
    incomplete = _incomplete(fields) if fact_type == "reminder.scheduled" else []
    return incomplete or _recurrence_faults(fields)


def _incomplete(fields: ReminderFields) -> list[tuple[str, str]]:
    if fields.due_on is not None and fields.recurrence is not None:
        return [("recurrence", "stands beside due_on: a reminder is due on one date, or recurs")]
    if fields.due_on is not None:
        return []
    if fields.recurrence is None:
        return [("due_on", "is missing: give due_on, or recurrence with starts_on")]
    if fields.starts_on is None:
        return [("starts_on", "is missing: it is the date from which the recurrence applies")]
    return []


def _recurrence_faults(fields: ReminderFields) -> list[tuple[str, str]]:
    if fields.recurrence is None:
        return []
    try:
        if fields.starts_on is None:
            rule_text(fields.recurrence)
        else:
            clock = parse_clock_time(fields.at) if fields.at else time.min
            own_zone = zone(fields.time_zone) if fields.time_zone else ZoneInfo("UTC")
            Recurrence.parse(fields.recurrence, fields.starts_on, clock, own_zone)
    except ValueError as error:
        return [("recurrence", str(error))]
    return []
