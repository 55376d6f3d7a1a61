"""What must be told of a reminder before it is taken."""

from __future__ import annotations

from typing import Any

import pytest

from domain.catalogue import read_data
from domain.errors import InvalidInput

SCHEDULED = {"reminder_id": "ana", "member_id": "m1", "about": "Ana", "at": "12:00"}
WEEKLY = {"recurrence": "FREQ=WEEKLY", "starts_on": "2026-08-08"}


def faults(fact_type: str, **data: Any) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        read_data(fact_type, data)
    return [str(mistake) for mistake in caught.value.mistakes]


@pytest.mark.parametrize("calendar", [{"due_on": "2026-08-08"}, WEEKLY, {**WEEKLY, "recurrence": "rrule:freq=daily"}])
def test_a_date_or_a_recurrence_will_do(calendar: dict[str, str]) -> None:
    read_data("reminder.scheduled", {**SCHEDULED, **calendar})


def test_without_either_the_remedy_is_named() -> None:
    [fault] = faults("reminder.scheduled", **SCHEDULED)
    assert fault == "data.due_on: is missing: give due_on, or recurrence with starts_on"


def test_both_are_too_much() -> None:
    [fault] = faults("reminder.scheduled", **SCHEDULED, **WEEKLY, due_on="2026-08-08")
    assert fault.startswith("data.recurrence: stands beside due_on")


def test_a_recurrence_needs_a_beginning() -> None:
    [fault] = faults("reminder.scheduled", **SCHEDULED, recurrence="FREQ=WEEKLY")
    assert fault.startswith("data.starts_on: is missing")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("FREQ=HOURLY", "one occurrence a day"),
        ("FREQ=WEEKLY;BYDAY=XX", "BYDAY"),
        ("every week", "is not a part of a recurrence rule"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;SKIP=OMIT", "never occurs"),
        ("FREQ=DAILY;UNTIL=20200101", "before its first occurrence"),
    ],
)
def test_a_recurrence_that_cannot_be_is_named(text: str, part: str) -> None:
    [fault] = faults("reminder.scheduled", **SCHEDULED, recurrence=text, starts_on="2026-08-08")
    assert fault.startswith("data.recurrence: ")
    assert part in fault


def test_a_change_of_the_recurrence_alone_is_checked_as_far_as_can_be() -> None:
    read_data("reminder.changed", {"reminder_id": "ana", "recurrence": "FREQ=DAILY"})
    [fault] = faults("reminder.changed", reminder_id="ana", recurrence="FREQ=HOURLY")
    assert fault.startswith("data.recurrence: ")


def test_an_end_in_utc_is_taken() -> None:
    calendar = {"recurrence": "FREQ=DAILY;UNTIL=20261231T120000Z", "starts_on": "2026-08-08"}
    read_data("reminder.scheduled", {**SCHEDULED, **calendar})


def test_a_snooze_needs_its_end() -> None:
    assert faults("reminder.snoozed", reminder_id="ana") == ["data.until: is missing"]
