"""Until when a message is of use is asked anew each time, of the facts as they are then (delivery trials C7, H, J9)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from adapters.aftercare import device_desk
from automations.notifications.types import NotificationType, Types
from domain.endings import Done, TryLater
from tests.adapters.delivering.office import FakeChannel, Office
from tests.domain.reminder_story import at

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
TEN = at("2026-08-08 10:00")
UNTIL_IT_STARTS = NotificationType(useful_until="booking.starts_at")


@pytest.fixture
def booked(office: Office) -> Office:
    """An office with a booking at ten, whose messages are of use until it starts."""
    office.types = Types({"welcome": UNTIL_IT_STARTS})
    office.save_rule(id="welcome", name="Welcome", when="booking.created", do=[{"notify": {"type": "welcome"}}])
    office.tell("resource.added", resource_id="r1", space_id="mitte", kind="meeting_room", name="R1")
    office.start_anew()
    office.until("2026-08-08 08:00")
    return office


def book(office: Office, fact: str = "created", starts_at: datetime = TEN) -> None:
    times = {"starts_at": starts_at.isoformat(), "ends_at": (starts_at + HOUR).isoformat()}
    office.tell(f"booking.{fact}", booking_id="b1", resource_id="r1", member_id="m1", **times)


def answer(office: Office, wait: timedelta | None) -> None:
    office.email.answer = TryLater(reason="busy", wait=wait)


def move_and_ask_to_wait(office: Office, starts_at: datetime, wait: timedelta) -> None:
    """Fail once, move the booking, and fail again with a wish to be left alone for so long."""
    answer(office, None)
    book(office)
    office.settle()
    assert len(office.email.calls) == 1
    book(office, "changed", starts_at)
    answer(office, wait)
    office.deliver_for(MINUTE)
    assert len(office.email.calls) == 2
    office.email.answer = Done()


def test_c7_a_wish_to_wait_is_weighed_against_what_the_facts_say_now(booked: Office) -> None:
    """Trial C7: the booking was moved into the evening, so seven hours later the message is still of use."""
    move_and_ask_to_wait(booked, at("2026-08-08 20:00"), 7 * HOUR)
    [row] = booked.rows()
    assert (row["status"], row["next_attempt_at"] - booked.clock.now()) == ("retrying", 7 * HOUR)
    booked.deliver_for(8 * HOUR)
    [row] = booked.rows()
    assert (row["status"], row["attempts"]) == ("sent", 3)


def test_c7_what_was_moved_ahead_is_over_by_then(booked: Office) -> None:
    """Trial C7, the other way: of use for two hours when it began, and for half an hour now."""
    move_and_ask_to_wait(booked, at("2026-08-08 08:30"), HOUR)
    [row] = booked.rows()
    assert row["status"] == "expired"
    assert row["reason"] == "it is of use until 2026-08-08 06:30:00 UTC, and the service asked to wait longer"
    assert len(booked.email.calls) == 2


def test_c7_a_move_during_the_call_itself_is_found_before_the_next_one(booked: Office) -> None:
    """Trial C7: what is told while the provider answers counts for the look that follows."""
    booked.email.before = lambda: moved_once(booked, at("2026-08-08 08:30"))
    answer(booked, None)
    book(booked)
    booked.settle()
    booked.email.answer = Done()
    booked.clock.set(at("2026-08-08 08:45"))
    booked.settle()
    assert len(booked.email.calls) == 1
    assert booked.rows()[0]["status"] == "expired"


def moved_once(office: Office, starts_at: datetime) -> None:
    office.email.before = lambda: None
    book(office, "changed", starts_at)


@pytest.mark.parametrize("hour", ["09:00", "20:00"])
def test_j9_a_message_carries_until_when_it_is_of_use_as_the_facts_say_now(booked: Office, hour: str) -> None:
    """Trial J9: a push service that is told the time of the beginning drops it too early, or rings too late."""
    answer(booked, None)
    book(booked)
    booked.settle()
    book(booked, "changed", at(f"2026-08-08 {hour}"))
    booked.email.answer = Done()
    booked.deliver_for(MINUTE)
    [message] = booked.email.sent
    assert (message.expires_at, message.at) == (at(f"2026-08-08 {hour}"), booked.clock.now())


def test_h3_a_push_in_a_queue_that_stood_still_is_not_sent_after_its_time(office: Office) -> None:
    """Trial H3: what is urgent now is worth nothing in three hours, whoever would still take it."""
    office.types = Types({"news": NotificationType(channels=("web_push",), useful_for=15 * MINUTE)})
    push = FakeChannel()
    office.use_channel("web_push", push)
    subscription = {"endpoint": "https://push.example/phone", "keys": {"p256dh": "k", "auth": "k"}}
    device_desk(office.app).register("m1", "web", subscription)
    office.worker.work_until_idle()
    office.request("k/0")
    office.delivering._expander.expand()
    office.clock.set(office.clock.now() + 3 * HOUR)
    office.settle()
    assert push.calls == []
    assert office.statuses() == {"expired": 1}
