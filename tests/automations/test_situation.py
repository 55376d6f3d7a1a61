"""What conditions and templates see about an entity: zones, derived facts, what was before, and what is personal."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from domain.money import Money
from tests.automations.worlds import NOON, Ledger, book, scene

LATER = NOON + timedelta(hours=1)


def seen(ledger: Ledger, path: str, stream: str = "booking/b1", **more: Any) -> object:
    return ledger.situation(stream, **more).value(path)


def test_instants_come_in_the_zone_of_the_space() -> None:
    ledger = scene()
    book(ledger, starts_at="2026-05-12T08:00:00Z")
    start = seen(ledger, "booking.starts_at")
    assert isinstance(start, datetime)
    assert (start.isoformat(), str(start.tzinfo)) == ("2026-05-12T10:00:00+02:00", "Europe/Berlin")


def test_without_a_known_space_they_come_in_the_operators_zone() -> None:
    ledger = Ledger()
    book(ledger)
    start = seen(ledger, "booking.starts_at")
    assert isinstance(start, datetime)
    assert str(start.tzinfo) == "Europe/Berlin"


def test_a_booking_is_in_the_space_of_its_resource_unless_it_names_another() -> None:
    ledger = scene()
    ledger.tell("space.opened", space_id="tokyo", name="T", time_zone="Asia/Tokyo", currency="JPY")
    book(ledger, space_id="tokyo")
    start = seen(ledger, "booking.starts_at")
    assert isinstance(start, datetime)
    assert start.isoformat() == "2026-05-12T17:00:00+09:00"
    assert seen(ledger, "space.name") == "T"


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ("booking.duration", timedelta(hours=2)),
        ("booking.weekday", "tuesday"),
        ("booking.date", date(2026, 5, 12)),
        ("booking.start_time", time(10, 0)),
        ("booking.end_time", time(12, 0)),
        ("booking.status", "confirmed"),
        ("booking.attendees", None),
        ("resource.kind", "meeting_room"),
        ("space.name", "Mitte"),
        ("member.tags", ("vip",)),
        ("member.company", "Acme"),
        ("entity", "booking/b1"),
    ],
)
def test_facts_of_a_booking(fact: str, value: object) -> None:
    ledger = scene()
    book(ledger)
    assert seen(ledger, fact) == value


def test_a_duration_counts_what_elapses_when_clocks_change() -> None:
    ledger = scene()
    book(ledger, starts_at="2026-03-29T01:00:00+01:00", ends_at="2026-03-29T05:00:00+02:00")
    assert seen(ledger, "booking.duration") == timedelta(hours=3)


def test_whole_days_begin_and_end_with_the_days_of_the_space() -> None:
    ledger = scene()
    book(ledger, starts_at="2026-05-12", ends_at="2026-05-13", all_day=True)
    start, end = seen(ledger, "booking.starts_at"), seen(ledger, "booking.ends_at")
    assert isinstance(start, datetime)
    assert isinstance(end, datetime)
    assert (start.isoformat(), end.isoformat()) == ("2026-05-12T00:00:00+02:00", "2026-05-14T00:00:00+02:00")
    assert seen(ledger, "booking.duration") == timedelta(days=2)


def test_unknown_entities_are_missing_and_break_nothing() -> None:
    ledger = scene()
    book(ledger, member_id="ghost", resource_id="ghost")
    values = [seen(ledger, fact) for fact in ("member.name", "resource.kind", "space.name", "member.erased")]
    assert values == [None] * 4


def test_a_part_of_a_field_can_be_named() -> None:
    ledger = scene()
    hours = {"start": "21:00", "end": "07:00"}
    ledger.tell("space.changed", space_id="mitte", quiet_hours=hours, at=LATER)
    book(ledger)
    assert seen(ledger, "space.quiet_hours.start") == "21:00"


def test_the_event_says_what_it_said_whatever_came_later() -> None:
    ledger = scene()
    book(ledger, attendees=2)
    fact = ledger.tell("booking.changed", booking_id="b1", attendees=5, at=LATER)
    ledger.tell("booking.changed", booking_id="b1", attendees=9, at=LATER + timedelta(hours=1))
    situation = ledger.situation("booking/b1", fact)
    paths = ("event.attendees", "event.before.attendees", "booking.attendees", "event.changed", "event.type")
    assert [situation.value(path) for path in paths] == [5, 2, 9, ("attendees",), "booking.changed"]


def test_before_the_first_event_everything_is_missing() -> None:
    ledger = scene()
    fact = book(ledger)
    assert ledger.situation("booking/b1", fact).value("event.before.status") is None


def test_the_time_of_an_event_comes_in_the_zone_of_the_space() -> None:
    ledger = scene()
    fact = book(ledger)
    time_of = ledger.situation("booking/b1", fact).value("event.time")
    assert isinstance(time_of, datetime)
    assert time_of.isoformat() == "2026-05-04T14:00:00+02:00"
    assert ledger.situation("booking/b1", fact).value("event.date") == date(2026, 5, 4)


def test_without_an_event_there_is_nothing_to_say_of_one() -> None:
    ledger = scene()
    book(ledger)
    assert seen(ledger, "event.type") is None
    assert seen(ledger, "payment.amount") is None


def test_personal_values_are_read_and_their_reference_is_known() -> None:
    ledger = scene()
    fact = book(ledger, colour="red")
    situation = ledger.situation("booking/b1", fact)
    assert (situation.value("member.name"), situation.reference("member.name")) == ("Mia", "member/m1/1/name")
    assert (situation.value("booking.extra.colour"), situation.reference("booking.extra.colour")) == (
        "red",
        "booking/b1/1/colour",
    )
    assert situation.value("event.extra.colour") == "red"
    assert situation.reference("booking.status") is None


def test_an_erased_value_is_missing() -> None:
    ledger = scene()
    book(ledger)
    ledger.personal.clear()
    situation = ledger.situation("booking/b1")
    assert (situation.value("member.name"), situation.reference("member.name")) == (None, "member/m1/1/name")


def invoiced(ledger: Ledger, *payments: tuple[str, str, datetime]) -> Any:
    ledger.tell(
        "invoice.issued", invoice_id="i1", space_id="mitte", member_id="m1", total="100.00 EUR", due_on="2026-05-20"
    )
    fact = None
    for number, (kind, amount, at) in enumerate(payments):
        fact = ledger.tell(f"payment.{kind}", payment_id=f"p{number}", invoice_id="i1", amount=amount, at=at)
    return fact


def euros(text: str) -> Money:
    return Money.parse(f"{text} EUR")


def test_payments_are_set_against_the_total() -> None:
    ledger = scene()
    fact = invoiced(ledger, ("received", "60.00 EUR", NOON), ("failed", "40.00 EUR", LATER))
    situation = ledger.situation("invoice/i1", fact)
    assert situation.value("invoice.outstanding") == euros("40.00")
    assert (situation.value("payment.amount"), situation.value("event.amount")) == (euros("40.00"), euros("40.00"))
    assert situation.value("invoice.paid_at") is None


def test_another_currency_cannot_be_set_against_it() -> None:
    ledger = scene()
    invoiced(ledger, ("received", "60.00 USD", NOON))
    assert seen(ledger, "invoice.outstanding", "invoice/i1") == euros("100.00")


def test_it_is_paid_when_the_payment_came_that_left_nothing() -> None:
    ledger = scene()
    too_much = ("received", "5.00 EUR", LATER + timedelta(days=1))
    invoiced(ledger, ("received", "40.00 EUR", LATER), ("received", "60.00 EUR", NOON), too_much)
    paid = seen(ledger, "invoice.paid_at", "invoice/i1")
    assert isinstance(paid, datetime)
    assert paid.astimezone(UTC) == LATER


def test_nothing_is_outstanding_before_the_invoice_is_known() -> None:
    ledger = scene()
    fact = ledger.tell("payment.received", payment_id="p1", invoice_id="i1", amount="5.00 EUR")
    assert ledger.situation("invoice/i1", fact).value("invoice.outstanding") is None


@pytest.mark.parametrize(
    ("local", "days"),
    [("2026-05-20T23:59", 0), ("2026-05-21T00:00", 1), ("2026-05-23T12:00", 3), ("2026-05-01T12:00", 0)],
)
def test_days_overdue_are_those_of_the_calendar_of_the_space(local: str, days: int) -> None:
    ledger = scene()
    invoiced(ledger)
    at = datetime.fromisoformat(f"{local}:00+02:00")
    assert seen(ledger, "invoice.days_overdue", "invoice/i1", at=at) == days


def test_bookings_before_are_counted_by_the_projection() -> None:
    ledger = scene()
    book(ledger)
    ledger.counts["m1"] = 3
    assert seen(ledger, "member.bookings_before") == 3


def test_a_situation_knows_whose_change_could_change_it() -> None:
    ledger = scene()
    book(ledger)
    situation = ledger.situation("booking/b1")
    situation.value("booking.attendees")
    assert situation.reads == {"booking/b1"}
    situation.value("resource.kind")
    assert situation.reads == {"booking/b1", "resource/r1"}
    situation.value("booking.starts_at")
    assert situation.reads == {"booking/b1", "resource/r1", "space/mitte"}
