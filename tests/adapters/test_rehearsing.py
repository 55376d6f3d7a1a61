"""A rehearsal goes through recorded history: nothing is called or written, and it says what would have been."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from adapters.application import Application
from adapters.database import history, log_queries
from adapters.database.backfilling import whole_past
from adapters.database.engine import reading
from adapters.database.personal import erase, personal
from adapters.database.schema import events, head, meta, queue, tracking
from adapters.database.unit_of_work import unit_of_work
from automations.authoring import read_rule
from automations.ports import Call, Service
from automations.rehearsal import Rehearsed, rehearsed_rule
from domain.commands import Command
from domain.moment_ranges import Window
from tests.engines import local
from tests.operators import BOOKING, ZONE, Event, Operator, event, operator_on, rule, scene

DOORS: Event = {
    "id": "doors",
    "when": "booking.starting",
    "before": "2 hours",
    "where": ["booking.attendees at least 3", "resource.kind is meeting_room"],
    "do": [
        {"notify": {"type": "access", "payload": {"hello": "{{ member.name }}"}}},
        {"charge_fee": {"amount": "5 EUR", "reason": "Room {{ resource.name }}"}},
        {"grant_access": {"door": "{{ resource.door }}", "from": "booking.starts_at", "until": "booking.ends_at"}},
    ],
}


class Untouchable:
    """A service that nobody may call."""

    honours_keys = True

    def __init__(self, name: str) -> None:
        self.name = name

    def perform(self, command: Command, call: Call) -> Any:
        raise AssertionError(f"a rehearsal called {command.OPERATION}")


def untouchables(application: Application) -> Mapping[str, Service]:
    return {name: Untouchable(name) for name in ("billing", "access", "tasks", "memberships", "notifications")}


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url, at=local("2026-05-01 08:00"), services=untouchables) as lent:
        lent.record(*(each | {"time": lent.clock.now().isoformat()} for each in scene()))
        yield lent


def tell(operator: Operator, at: str, event_type: str, data: Event, **more: Any) -> None:
    """Record an event when it happens."""
    operator.clock.set(local(at))
    operator.record(event(event_type, data, at=local(at), **more))


def book(operator: Operator, at: str, identifier: str, starts_at: str, **more: Any) -> None:
    start = local(starts_at)
    times = {"starts_at": start.isoformat(), "ends_at": (start + timedelta(hours=2)).isoformat()}
    tell(operator, at, "booking.created", {**BOOKING, "booking_id": identifier, **times, **more})


def rehearsed(operator: Operator, *rules: Event, window: Window | None = None) -> list[Rehearsed]:
    states = [rehearsed_rule(read_rule(each).rule) for each in rules]
    asked = window or whole_past(operator.clock.now())
    return list(operator.app.rehearsal(states, asked).outcomes())


def told(found: list[Rehearsed]) -> list[tuple[str, str, str]]:
    berlin = ZoneInfo(ZONE)
    return [(f"{each.at.astimezone(berlin):%m-%d %H:%M}", each.candidate.entity, each.outcome) for each in found]


def everything(operator: Operator) -> list[Any]:
    return [operator.rows(table) for table in (events, head, meta, queue, tracking, personal)]


def test_what_would_be_called_is_shown_with_its_conditions_and_nothing_is_called_or_written(operator: Operator) -> None:
    book(operator, "2026-05-10 09:00", "b1", "2026-05-12 10:00")
    operator.clock.set(local("2026-05-13 00:00"))
    before = everything(operator)
    (found,) = rehearsed(operator, DOORS)
    assert everything(operator) == before
    assert (found.outcome, found.at, found.late) == ("would run", local("2026-05-12 08:00"), False)
    assert found.verdict is not None
    assert [(each.fact, each.seen) for each in found.verdict.reasons] == [
        ("booking.attendees", 4),
        ("resource.kind", "meeting_room"),
    ]
    message, fee, door = found.calls
    assert (message.operation, message.arguments["payload"]) == ("notifications.request", {"hello": "Mia"})
    assert (fee.operation, fee.arguments["amount"]) == ("billing.charge_fee", "5.00 EUR")
    assert (door.operation, door.arguments["door"]) == ("access.grant", "d1")
    assert not any(call.fault for call in found.calls)


def test_each_candidate_is_judged_by_what_was_known_at_its_instant(operator: Operator) -> None:
    book(operator, "2026-05-10 09:00", "b1", "2026-05-12 10:00", attendees=2)
    book(operator, "2026-05-10 09:00", "b2", "2026-05-12 14:00")
    tell(operator, "2026-05-12 09:00", "booking.changed", {"booking_id": "b1", "attendees": 9})
    tell(operator, "2026-05-12 12:30", "booking.changed", {"booking_id": "b2", "attendees": 1})
    first, second, third = rehearsed(operator, DOORS)
    assert told([first, second, third]) == [
        ("05-12 08:00", "booking/b1", "would not run"),
        ("05-12 09:00", "booking/b1", "would run"),  # since a condition became true in time
        ("05-12 12:00", "booking/b2", "would run"),  # what came after it does not count
    ]
    assert first.reason == "booking.attendees is 2, wanted: at least 3"
    assert second.late


def test_a_moved_booking_is_taken_at_its_new_time_and_its_key_keeps_it_from_repeating(operator: Operator) -> None:
    remind = rule("remind", "booking.starting", before="2 hours")
    book(operator, "2026-05-10 09:00", "b1", "2026-05-12 10:00")
    moved = {
        "booking_id": "b1",
        "starts_at": local("2026-05-12 16:00").isoformat(),
        "ends_at": local("2026-05-12 18:00").isoformat(),
    }
    tell(operator, "2026-05-12 09:00", "booking.changed", moved)
    book(operator, "2026-05-12 09:01", "b2", "2026-05-14 10:00")
    again = {
        "booking_id": "b2",
        "starts_at": local("2026-05-15 10:00").isoformat(),
        "ends_at": local("2026-05-15 12:00").isoformat(),
    }
    tell(operator, "2026-05-13 09:00", "booking.changed", again)
    operator.clock.set(local("2026-05-16 00:00"))
    found = rehearsed(operator, remind)
    assert told(found) == [
        ("05-12 08:00", "booking/b1", "would run"),
        ("05-12 14:00", "booking/b1", "kept"),
        ("05-15 08:00", "booking/b2", "would run"),
    ]
    assert found[1].reason == "ran already at 2026-05-12 06:00:00 UTC"


def test_event_triggers_see_the_state_before_the_event_and_each_event_once(operator: Operator) -> None:
    extended = rule("extended", "booking.changed", "event.before.attendees below 5", "booking.attendees at least 5")
    once = rule("once", "booking.changed", once="entity")
    book(operator, "2026-05-10 09:00", "b1", "2026-05-12 10:00")
    tell(operator, "2026-05-10 10:00", "booking.changed", {"booking_id": "b1", "attendees": 6})
    tell(operator, "2026-05-10 11:00", "booking.changed", {"booking_id": "b1", "attendees": 7})
    found = rehearsed(operator, extended, once)
    assert [(each.candidate.rule.id, each.outcome) for each in found] == [
        ("extended", "would run"),
        ("once", "would run"),
        ("extended", "would not run"),
        ("once", "kept"),
    ]
    assert found[2].reason == "event.before.attendees is 6, wanted: below 5"


def test_a_window_leaves_out_what_lies_outside_but_knows_what_was_there_before(operator: Operator) -> None:
    made = rule("made", "booking.created")
    book(operator, "2026-05-02 09:00", "b1", "2026-05-12 10:00")
    book(operator, "2026-05-10 09:00", "b2", "2026-05-12 11:00")
    book(operator, "2026-05-11 09:00", "b3", "2026-05-20 11:00")
    operator.clock.set(local("2026-06-01 00:00"))
    window = Window(local("2026-05-09 00:00"), local("2026-05-12 08:30"))
    assert told(rehearsed(operator, made, DOORS, window=window)) == [
        ("05-10 09:00", "booking/b2", "would run"),
        ("05-11 09:00", "booking/b3", "would run"),
        ("05-12 08:00", "booking/b1", "would run"),
    ]


def test_history_that_was_brought_in_later_is_gone_through_at_its_own_time(operator: Operator) -> None:
    operator.clock.set(local("2026-07-01 00:00"))
    starts, ends = local("2026-05-12 10:00"), local("2026-05-12 12:00")
    times = {"starts_at": starts.isoformat(), "ends_at": ends.isoformat()}
    operator.record(
        event("booking.created", {**BOOKING, **times}, at=local("2026-05-10 09:00")),
        event("booking.changed", {"booking_id": "b1", "attendees": 1}, at=local("2026-05-12 09:00")),
    )
    assert told(rehearsed(operator, DOORS)) == [("05-12 08:00", "booking/b1", "would run")]


def test_a_recurring_reminder_is_taken_at_each_of_its_occurrences_until_it_is_cancelled(operator: Operator) -> None:
    remind = rule("remind", "reminder.due")
    about = {"reminder_id": "ana", "member_id": "m1", "about": "Ana", "at": "12:00", "space_id": "mitte"}
    daily = {**about, "recurrence": "FREQ=DAILY", "starts_on": "2026-05-03"}
    tell(operator, "2026-05-02 09:00", "reminder.scheduled", daily)
    tell(operator, "2026-05-05 15:00", "reminder.cancelled", {"reminder_id": "ana"})
    operator.clock.set(local("2026-05-10 00:00"))
    assert told(rehearsed(operator, remind)) == [(f"05-0{day} 12:00", "reminder/ana", "would run") for day in (3, 4, 5)]


def test_what_would_come_too_late_is_missed_and_what_cannot_be_filled_in_is_said(operator: Operator) -> None:
    webhook = rule(
        "tell", "booking.starting", before="2 hours", do=[{"create_task": {"title": "{{ member.company }}"}}]
    )
    book(operator, "2026-05-10 09:00", "b1", "2026-05-12 10:00")
    tell(operator, "2026-05-12 13:00", "booking.created", {**BOOKING, "booking_id": "b9"})
    missed = [each for each in rehearsed(operator, webhook) if each.candidate.entity == "booking/b9"]
    assert [each.outcome for each in missed] == ["missed"]
    (run,) = [each for each in rehearsed(operator, webhook) if each.outcome == "would run"]
    assert "member.company" in run.calls[0].fault


def test_erased_values_are_shown_as_erased(operator: Operator) -> None:
    book(operator, "2026-05-10 09:00", "b1", "2026-05-12 10:00")
    operator.clock.set(local("2026-05-13 00:00"))
    with unit_of_work(operator.app.log, "erase") as work:
        erase(work.connection, "m1")
    (found,) = rehearsed(operator, DOORS)
    assert found.calls[0].arguments["payload"] == {"hello": "erased"}


def test_bookings_of_a_member_are_counted_as_they_were_then(operator: Operator) -> None:
    third = rule("third", "booking.created", "member.bookings_before is 2")
    for number in range(4):
        book(operator, f"2026-05-0{number + 2} 09:00", f"b{number}", f"2026-05-1{number} 10:00")
    tell(operator, "2026-05-06 09:00", "booking.cancelled", {"booking_id": "b0"})
    for _ in range(2):
        found = rehearsed(operator, third)
        assert [each.candidate.entity for each in found if each.outcome == "would run"] == ["booking/b2"]
        operator.follow()  # so that the second time the projection knows all of them


def test_an_event_that_cannot_be_read_stops_only_its_own_entity(operator: Operator) -> None:
    book(operator, "2026-05-10 09:00", "b1", "2026-05-12 10:00")
    book(operator, "2026-05-10 09:00", "b2", "2026-05-12 10:00")
    with unit_of_work(operator.app.log, "spoil") as work:
        work.connection.execute(events.update().where(events.c.stream == "booking/b1").values(state=b"{"))
    operator.clock.set(local("2026-05-13 00:00"))
    assert told(rehearsed(operator, DOORS)) == [("05-12 08:00", "booking/b2", "would run")]


def test_memory_of_states_is_bounded_and_what_was_let_go_is_read_again(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        book(operator, "2026-05-10 09:00", f"b{number}", "2026-05-12 10:00")
    operator.clock.set(local("2026-05-13 00:00"))
    whole = told(rehearsed(operator, DOORS))
    monkeypatch.setattr(history.PastEntities.__init__, "__defaults__", (3,))
    assert told(rehearsed(operator, DOORS)) == whole
    assert len(whole) == 30


def test_progress_is_told_up_to_the_head(operator: Operator) -> None:
    book(operator, "2026-05-10 09:00", "b1", "2026-05-12 10:00")
    seen: list[tuple[int, int]] = []
    states = [rehearsed_rule(read_rule(DOORS).rule)]
    walk = operator.app.rehearsal(states, whole_past(operator.clock.now()), lambda done, of: seen.append((done, of)))
    list(walk.outcomes())
    with reading(operator.app.engine) as connection:
        assert seen == [(log_queries.head_position(connection),) * 2]


def test_an_empty_log_has_nothing_to_rehearse(database_url: str) -> None:
    with operator_on(database_url, at=datetime(2026, 5, 1, tzinfo=UTC)) as lent:
        assert rehearsed(lent, DOORS) == []
