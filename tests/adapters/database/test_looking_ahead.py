"""What will run: the due times ahead of an entity and of a rule, and what speaks against them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from adapters.database import looking_ahead, moments_ahead
from automations.looking_ahead import Ahead
from domain.errors import InvalidInput
from tests.engines import Engine, local
from tests.operators import BOOKING, INVOICE, Event, Operator, event, operator_on, rule, scene

HOUR = timedelta(hours=1)


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url, at=local("2026-05-10 08:00")) as lent:
        lent.record(*scene())
        yield lent


def booking(identifier: str, starts_at: str, ends_at: str, **more: object) -> Event:
    times = {"starts_at": local(starts_at).isoformat(), "ends_at": local(ends_at).isoformat()}
    return event("booking.created", {**BOOKING, "booking_id": identifier, **times, **more})


def reminder(operator: Operator, **more: object) -> None:
    about = {"reminder_id": "ana", "member_id": "m1", "about": "Ana", "at": "12:00", "space_id": "mitte", **more}
    operator.record(event("reminder.scheduled", about, at=operator.clock.now()))


def of_entity(operator: Operator, entity: str, most: int = 10) -> list[Ahead]:
    operator.work()
    with operator.app.clock_desk().looking_ahead() as look:
        return look.of_entity(entity, most)


def of_rule(operator: Operator, rule_id: str, most: int = 10, *, whatever: bool = False) -> list[Ahead]:
    operator.work()
    with operator.app.clock_desk().looking_ahead() as look:
        return look.of_rule(rule_id, most, whatever=whatever)


def shown(found: list[Ahead]) -> list[tuple[str, str, str]]:
    """Return entity, rule and local due time of each."""
    return [
        (ahead.entity, ahead.rule, f"{ahead.at.astimezone(ahead.due.moment.place):%Y-%m-%d %H:%M}") for ahead in found
    ]


def test_every_due_time_ahead_of_a_booking_is_told_in_order(operator: Operator) -> None:
    operator.save(
        rule("remind", "booking.starting", before="24 hours"),
        rule("open", "booking.starting", before="15 minutes"),
        rule("clean", "booking.ended", after="1 hour"),
        rule("created", "booking.created"),
        rule("dunning", "invoice.overdue", after="1 day"),
    )
    operator.save(rule("off", "booking.ending", before="5 minutes", enabled=False))
    operator.record(booking("b1", "2026-05-12 10:00", "2026-05-12 12:00"))
    assert shown(of_entity(operator, "booking/b1")) == [
        ("booking/b1", "remind", "2026-05-11 10:00"),
        ("booking/b1", "open", "2026-05-12 09:45"),
        ("booking/b1", "clean", "2026-05-12 13:00"),
    ]


def test_what_will_not_run_says_why_by_the_facts_as_they_are(operator: Operator) -> None:
    operator.save(rule("big", "booking.starting", "booking.attendees at least 10", before="24 hours"))
    operator.record(booking("b1", "2026-05-12 10:00", "2026-05-12 12:00"))
    (ahead,) = of_entity(operator, "booking/b1")
    assert (ahead.will_run, ahead.reason) == (False, "booking.attendees is 4, wanted: at least 10")
    operator.record(event("booking.changed", {"booking_id": "b1", "attendees": 12}, at=operator.clock.now()))
    (ahead,) = of_entity(operator, "booking/b1")
    assert (ahead.will_run, ahead.reason) == (True, "")


def test_what_was_done_already_will_not_run_again(operator: Operator) -> None:
    operator.save(rule("once", "booking.starting", before="24 hours", once="entity"))
    operator.record(booking("b1", "2026-05-11 10:00", "2026-05-11 12:00"))
    Engine(operator).run_until("2026-05-10 11:00", HOUR)
    times = {"starts_at": local("2026-05-20 10:00").isoformat(), "ends_at": local("2026-05-20 12:00").isoformat()}
    operator.record(event("booking.changed", {"booking_id": "b1", **times}, at=operator.clock.now()))
    (ahead,) = of_entity(operator, "booking/b1")
    assert (ahead.will_run, ahead.reason) == (False, "already done on 2026-05-11")


def test_a_cancelled_booking_and_one_that_is_past_have_nothing_ahead(operator: Operator) -> None:
    operator.save(rule("remind", "booking.starting", before="24 hours"))
    operator.record(
        booking("b1", "2026-05-12 10:00", "2026-05-12 12:00"),
        event("booking.cancelled", {"booking_id": "b1"}),
        booking("b2", "2026-05-09 10:00", "2026-05-09 12:00"),
    )
    assert of_entity(operator, "booking/b1") == []
    assert of_entity(operator, "booking/b2") == []


def test_what_the_next_tick_will_run_is_ahead_and_what_is_past_for_the_rule_is_not(operator: Operator) -> None:
    operator.record(booking("old", "2026-05-10 10:00", "2026-05-10 12:00"))
    operator.save(
        rule("remind", "booking.starting", before="24 hours"), rule("day", "booking.starting", before="1 hour")
    )
    operator.clock.advance(HOUR)
    operator.record(booking("new", "2026-05-10 09:30", "2026-05-10 12:00"))
    operator.work()
    assert {ahead.rule for ahead in of_entity(operator, "booking/new")} == {"remind", "day"}
    assert [ahead.rule for ahead in of_entity(operator, "booking/old")] == ["day"]
    operator.clock.advance(HOUR)
    assert of_entity(operator, "booking/new") == []


def test_a_recurring_reminder_is_expanded_on_the_fly(operator: Operator) -> None:
    operator.save(rule("reminders", "reminder.due"))
    reminder(operator, recurrence="FREQ=WEEKLY", starts_on="2026-05-11")
    assert shown(of_entity(operator, "reminder/ana", 3)) == [
        ("reminder/ana", "reminders", "2026-05-11 12:00"),
        ("reminder/ana", "reminders", "2026-05-18 12:00"),
        ("reminder/ana", "reminders", "2026-05-25 12:00"),
    ]


def test_a_rule_tells_its_next_runs_over_all_entities(operator: Operator) -> None:
    operator.save(rule("remind", "booking.starting", "booking.attendees at least 3", before="24 hours"))
    days = [(day, 4 if day % 2 else 2) for day in range(12, 30)]
    operator.record(
        *(booking(f"b{day}", f"2026-05-{day} 10:00", f"2026-05-{day} 11:00", attendees=many) for day, many in days)
    )
    assert [ahead.entity for ahead in of_rule(operator, "remind", 3)] == ["booking/b13", "booking/b15", "booking/b17"]
    assert [(ahead.entity, ahead.will_run) for ahead in of_rule(operator, "remind", 3, whatever=True)] == [
        ("booking/b12", False),
        ("booking/b13", True),
        ("booking/b14", False),
    ]


@pytest.mark.parametrize(
    ("trigger", "offset"),
    [
        ("booking.starting", {"before": "90 minutes"}),
        ("booking.starting", {"before": "1 day at 09:00"}),
        ("booking.starting", {"before": "1 month"}),
        ("booking.ending", {"before": "2 days"}),
        ("booking.ended", {"after": "1 month"}),
    ],
)
def test_the_next_runs_come_in_the_order_of_their_due_times(
    operator: Operator, trigger: str, offset: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments_ahead, "PAGE", 3)
    monkeypatch.setattr(looking_ahead, "PAGE", 2)
    operator.save(rule("r", trigger, **offset))
    other = {"space_id": "la", "name": "LA", "time_zone": "America/Los_Angeles", "currency": "USD"}
    operator.record(
        event("space.opened", other),
        event("resource.added", {"resource_id": "r2", "space_id": "la", "kind": "desk", "name": "D", "door": "d2"}),
        *(
            booking(f"b{day}-{hour}", f"2026-07-{day} {hour}:00", f"2026-07-{day} 23:30", resource_id=room)
            for day, hour, room in (
                *((day, 20, "r1") for day in range(26, 32)),
                *((day, 10, "r2") for day in range(26, 32)),
                *((day, 21, "r2") for day in range(26, 32)),
            )
        ),
    )
    found = of_rule(operator, "r", 100)
    assert len(found) == 18
    assert [ahead.at for ahead in found] == sorted(ahead.at for ahead in found)
    of_each = [ahead.at for found_of in found for ahead in of_entity(operator, found_of.entity)]
    assert sorted(of_each) == [ahead.at for ahead in found]


def test_the_occurrences_of_several_reminders_come_in_order(operator: Operator) -> None:
    operator.save(rule("reminders", "reminder.due"))
    reminder(operator, recurrence="FREQ=WEEKLY", starts_on="2026-05-11")
    reminder(operator, reminder_id="bea", recurrence="FREQ=DAILY", starts_on="2026-05-12")
    reminder(operator, reminder_id="cy", due_on="2026-05-14", at="09:00")
    assert shown(of_rule(operator, "reminders", 5)) == [
        ("reminder/ana", "reminders", "2026-05-11 12:00"),
        ("reminder/bea", "reminders", "2026-05-12 12:00"),
        ("reminder/bea", "reminders", "2026-05-13 12:00"),
        ("reminder/cy", "reminders", "2026-05-14 09:00"),
        ("reminder/bea", "reminders", "2026-05-14 12:00"),
    ]


def test_dates_fall_due_by_the_calendar_of_their_space(operator: Operator) -> None:
    operator.save(
        rule("dunning", "invoice.overdue", after="1 day at 09:00"), rule("due", "invoice.due", before="1 week")
    )
    operator.record(event("invoice.issued", {**INVOICE, "due_on": "2026-05-20"}))
    assert shown(of_entity(operator, "invoice/i1")) == [
        ("invoice/i1", "due", "2026-05-13 00:00"),
        ("invoice/i1", "dunning", "2026-05-21 09:00"),
    ]
    assert shown(of_rule(operator, "dunning")) == [("invoice/i1", "dunning", "2026-05-21 09:00")]


def test_nobody_knows_when_an_event_will_happen_next(operator: Operator) -> None:
    operator.save(rule("created", "booking.created"))
    with operator.app.clock_desk().looking_ahead() as look:
        with pytest.raises(InvalidInput, match=r"started by booking\.created"):
            look.of_rule("created")
        with pytest.raises(InvalidInput, match="no rule is called"):
            look.of_rule("create")


def test_looking_ahead_records_nothing(operator: Operator) -> None:
    operator.save(rule("remind", "booking.starting", before="24 hours"))
    operator.record(booking("b1", "2026-05-12 10:00", "2026-05-12 12:00"))
    operator.work()
    before = len(operator.events())
    with operator.app.clock_desk().looking_ahead() as look:
        assert look.of_entity("booking/b1")
        assert look.of_rule("remind")
        assert look.of_entity("booking/unknown") == []
    assert len(operator.events()) == before
