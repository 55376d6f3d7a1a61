"""Reminders are delivered once for each date and channel, and only while they still stand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from adapters.database.delivery_views import DeliveryViews
from adapters.database.expanding import Expander
from automations.notifications.types import Types
from domain.endings import Done, TryLater
from domain.moment_ranges import Window
from tests.adapters.delivering.office import Office
from tests.domain.reminder_story import MADRID, at

BUSY = TryLater(reason="unavailable")

ANA = {
    "reminder_id": "ana",
    "member_id": "m1",
    "about": "Ana",
    "at": "12:00",
    "starts_on": "2026-08-08",
    "recurrence": "FREQ=WEEKLY",
    "time_zone": "Europe/Madrid",
    "channels": ["email"],
}


def schedule(office: Office, **more: Any) -> None:
    office.tell("reminder.scheduled", **{**ANA, **more})


def shown(office: Office) -> list[tuple[str, str, str]]:
    return sorted(
        (f"{each.at.astimezone(MADRID):%m-%d %H:%M}", each.channel, each.text or "") for each in office.messages()
    )


def test_each_date_and_channel_gets_one_message(office: Office) -> None:
    schedule(office, channels=["email", "in_app"])
    office.until("2026-08-16 00:00")
    assert shown(office) == [
        ("08-08 12:00", "email", "Ana"),
        ("08-08 12:00", "in_app", "Ana"),
        ("08-15 12:00", "email", "Ana"),
        ("08-15 12:00", "in_app", "Ana"),
    ]
    assert len(office.email.calls) == 2


def test_ticks_and_restarts_add_nothing(office: Office) -> None:
    """Trial G7: due slots are rows, and not somebody's memory."""
    schedule(office)
    office.until("2026-08-08 11:55")
    office.until("2026-08-08 12:30", every=timedelta(minutes=5))
    for _ in range(3):
        office.start_anew()
        office.tick()
    assert shown(office) == [("08-08 12:00", "email", "Ana")]


def test_what_is_told_after_its_time_is_sent_and_a_sweep_finds_nothing_new(office: Office) -> None:
    schedule(office)
    office.until("2026-08-08 12:30")
    bea = {"reminder_id": "bea", "about": "Bea", "recurrence": None, "starts_on": None, "due_on": "2026-08-08"}
    schedule(office, **bea)
    office.until("2026-08-08 13:05")
    office.worker.sweep(Window(at("2026-08-08 00:00"), at("2026-08-08 13:00")))
    office.settle()
    assert shown(office) == [("08-08 12:00", "email", "Ana"), ("08-08 13:00", "email", "Bea")]


def pending_at_noon(office: Office, **more: Any) -> None:
    """Let a reminder fall due while its email cannot be sent."""
    schedule(office, **more)
    office.until("2026-08-08 11:00")
    office.email.answer = BUSY
    office.until("2026-08-08 12:10")
    assert office.statuses() == {"retrying": 1}


def answered(office: Office) -> dict[str, int]:
    """Return what became of the deliveries once email works again."""
    office.email.answer = Done()
    office.until("2026-08-08 23:00")
    return office.statuses()


def test_contacted_already_means_the_pending_email_is_cancelled_and_the_history_stays(office: Office) -> None:
    schedule(office)
    office.until("2026-08-15 11:30")
    office.email.answer = BUSY
    office.until("2026-08-15 12:10")
    office.tell("reminder.completed", reminder_id="ana", due_on="2026-08-15")
    office.clock.set(at("2026-08-15 12:11"))
    office.email.answer = Done()
    office.until("2026-08-16 00:00")
    assert shown(office) == [("08-08 12:00", "email", "Ana")]
    assert office.statuses() == {"sent": 1, "cancelled": 1}
    assert [row["reason"] for row in office.rows(status=["cancelled"])] == ["reminder completed"]


@pytest.mark.parametrize(
    ("fact", "data", "reason"),
    [
        ("completed", {}, "reminder completed"),
        ("cancelled", {}, "reminder cancelled"),
        ("changed", {"channels": ["in_app"]}, "channel switched off"),
    ],
)
def test_what_does_not_stand_any_more_is_not_sent(office: Office, fact: str, data: dict[str, Any], reason: str) -> None:
    pending_at_noon(office)
    calls = len(office.email.calls)
    office.tell(f"reminder.{fact}", reminder_id="ana", **data)
    assert answered(office) == {"cancelled": 1}
    assert [row["reason"] for row in office.rows()] == [reason]
    assert len(office.email.calls) == calls


def test_a_snooze_moves_the_one_occurrence(office: Office) -> None:
    pending_at_noon(office)
    office.tell("reminder.snoozed", reminder_id="ana", until=at("2026-08-08 15:00").isoformat())
    assert answered(office) == {"cancelled": 1, "sent": 1}
    assert office.rows(status=["cancelled"])[0]["reason"] == "reminder snoozed until 2026-08-08 15:00"
    assert shown(office) == [("08-08 15:00", "email", "Ana")]


def test_a_snooze_to_another_day_rings_on_that_day(office: Office) -> None:
    schedule(office)
    office.until("2026-08-08 13:00")
    office.tell("reminder.snoozed", reminder_id="ana", until=at("2026-08-10 09:00").isoformat())
    office.until("2026-08-11 00:00")
    assert shown(office) == [("08-08 12:00", "email", "Ana"), ("08-10 09:00", "email", "Ana")]


def test_another_time_on_the_day_rings_again(office: Office) -> None:
    pending_at_noon(office)
    office.tell("reminder.changed", reminder_id="ana", at="18:00")
    assert answered(office) == {"cancelled": 1, "sent": 1}
    assert office.rows(status=["cancelled"])[0]["reason"] == "reminder changed"
    assert shown(office) == [("08-08 18:00", "email", "Ana")]


def test_another_text_is_taken_over_by_what_is_pending(office: Office) -> None:
    pending_at_noon(office)
    office.tell("reminder.changed", reminder_id="ana", about="Bea")
    assert answered(office) == {"sent": 1}
    assert [text for _, _, text in shown(office)] == ["Bea"]


def not_yet(office: Office) -> None:
    """Do nothing."""


def ticked(office: Office) -> None:
    """Let the rule run, which asks for the notification."""
    office.worker.tick()


def expanded(office: Office) -> None:
    """Let the notification become a delivery, which waits in its queue."""
    office.worker.tick()
    views = DeliveryViews(office.app.log, "Europe/Madrid")
    Expander(office.app.log, office.clock, "expander", Types(), views).expand()


@pytest.mark.parametrize("come_to", [not_yet, ticked, expanded])
def test_cancelled_at_any_point_before_the_call_nothing_is_sent(
    office: Office, come_to: Callable[[Office], None]
) -> None:
    """Trial G1."""
    schedule(office)
    office.settle()
    office.clock.set(at("2026-08-08 12:00"))
    come_to(office)
    office.tell("reminder.cancelled", reminder_id="ana")
    office.tick()
    assert office.email.calls == []
    assert set(office.statuses()) <= {"cancelled"}


def test_cancelled_during_the_call_it_is_one_call_and_no_retry(office: Office) -> None:
    """Trial G1, the last of its points."""
    schedule(office)
    office.until("2026-08-08 11:00")
    office.email.answer = BUSY
    office.email.before = lambda: cancel(office)
    office.until("2026-08-09 00:00")
    assert len(office.email.calls) == 1
    assert office.statuses() == {"cancelled": 1}


def cancel(office: Office) -> None:
    office.email.before = lambda: None
    office.tell("reminder.cancelled", reminder_id="ana")


def test_a_booking_that_moved_is_told_for_its_new_time_only(office: Office) -> None:
    """Trial G4."""
    office.save_rule(
        id="starting",
        name="Starting",
        when="booking.starting",
        before="2 hours",
        once="moment",
        do=[{"notify": {"type": "starting"}}],
    )
    office.tell("resource.added", resource_id="r1", space_id="mitte", kind="meeting_room", name="R1")
    booking = {"booking_id": "b1", "resource_id": "r1", "member_id": "m1"}
    ten, three = at("2026-08-08 10:00").isoformat(), at("2026-08-08 15:00").isoformat()
    office.tell("booking.created", **booking, starts_at=ten, ends_at=at("2026-08-08 11:00").isoformat())
    office.email.answer = BUSY
    office.until("2026-08-08 08:30")
    office.tell("booking.changed", **booking, starts_at=three, ends_at=at("2026-08-08 16:00").isoformat())
    office.email.answer = Done()
    office.until("2026-08-08 16:00")
    assert office.statuses() == {"cancelled": 1, "sent": 1}
    assert [time for time, _, _ in shown(office)] == ["08-08 13:00"]


def test_after_an_outage_what_is_missed_is_there_to_be_seen(office: Office) -> None:
    """Trial G5: the engine was off for three days."""
    schedule(office, recurrence="FREQ=DAILY")
    office.until("2026-08-08 13:00")
    office.clock.set(at("2026-08-11 13:00"))
    office.tick()
    assert [time for time, _, _ in shown(office) if time < "08-09"] == ["08-08 12:00"]
    assert len([row for row in office.rows(entity="reminder/ana") if row["status"] == "sent"]) == 2


def test_two_workers_side_by_side_make_one_delivery_for_each_date(office: Office) -> None:
    """Trial G5: two sweepers."""
    schedule(office, recurrence="FREQ=DAILY")
    office.settle()
    other = office.app.worker()
    for day in ("08", "09", "10"):
        office.clock.set(at(f"2026-08-{day} 12:00"))
        other.tick()
        office.tick()
        other.tick()
        office.settle()
    assert len(office.rows(entity="reminder/ana")) == 3
    assert len(office.email.calls) == 3
