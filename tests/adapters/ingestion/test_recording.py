"""Events from outside become facts: once each, with what is personal apart, and whatever order they come in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.database.personal import personal
from adapters.database.schema import events
from adapters.database.unit_of_work import unit_of_work
from adapters.ingestion.cloud_events import read_event
from adapters.ingestion.inbox import inbox
from adapters.ingestion.incoming import Incoming
from domain.errors import InvalidInput
from domain.facts import Fact
from domain.outside import OutsideEvent
from tests.operators import BOOKING, INVOICE, MIA, MITTE, NOON, ROOM, Event, Operator, event, operator_on, scene

HOUR = timedelta(hours=1)


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url) as operator:
        yield operator


def statuses(operator: Operator, *recorded: Event) -> list[str]:
    return [outcome.status for outcome in operator.record(*recorded)]


def facts(operator: Operator, stream: str) -> list[Fact]:
    return [found for found in operator.events(stream) if isinstance(found, Fact)]


# --- once each ---


def test_the_same_event_again_is_a_duplicate_in_one_batch_or_in_two(operator: Operator) -> None:
    booking = event("booking.created", BOOKING)
    assert statuses(operator, booking, booking) == ["accepted", "duplicate"]
    assert statuses(operator, booking) == ["duplicate"]
    assert len(facts(operator, "booking/b1")) == 1


def test_the_order_of_keys_and_the_form_of_the_time_do_not_matter(operator: Operator) -> None:
    booking = event("booking.created", BOOKING)
    turned = {**booking, "time": "2026-05-04T14:00:00+02:00", "data": dict(reversed(BOOKING.items()))}
    assert statuses(operator, booking, turned) == ["accepted", "duplicate"]


@pytest.mark.parametrize(
    "other",
    [
        {"data": {**BOOKING, "attendees": 5}},
        {"data": {**BOOKING, "colour": "red"}},
        {"type": "booking.changed"},
        {"time": (NOON + HOUR).isoformat()},
        {"sequence": "2"},
    ],
)
def test_another_body_under_the_same_id_is_a_conflict_and_changes_nothing(operator: Operator, other: Event) -> None:
    booking = event("booking.created", BOOKING)
    assert statuses(operator, booking) == ["accepted"]
    before = operator.events(), operator.rows(personal), operator.rows(inbox)
    assert statuses(operator, {**booking, **other}) == ["conflict"]
    assert (operator.events(), operator.rows(personal), operator.rows(inbox)) == before


def test_of_two_bodies_in_one_batch_the_first_counts(operator: Operator) -> None:
    booking = event("booking.created", BOOKING)
    other = {**booking, "data": {**BOOKING, "attendees": 9}}
    assert statuses(operator, booking, other, booking) == ["accepted", "conflict", "duplicate"]
    assert operator.field("booking/b1", "attendees") == 4


def test_another_source_may_use_the_same_id(operator: Operator) -> None:
    booking = event("booking.created", BOOKING, id="1")
    other = event("booking.changed", {"booking_id": "b1", "attendees": 9}, id="1", source="elsewhere", at=NOON + HOUR)
    assert statuses(operator, booking, other) == ["accepted", "accepted"]


def test_neither_the_body_nor_a_guess_of_it_can_be_read_from_its_fingerprint(
    operator: Operator, tmp_path: Path
) -> None:
    member = event("member.registered", MIA)
    with operator_on(f"sqlite:///{tmp_path}/elsewhere.db") as elsewhere:
        operator.record(member)
        elsewhere.record(member)
        (here,), (there,) = operator.rows(inbox), elsewhere.rows(inbox)
    assert here["fingerprint"] != there["fingerprint"]
    assert len(here["fingerprint"]) == 16


class PowerFailure(BaseException):
    """Ends a transaction before its commit."""


def record_without_power(operator: Operator, incoming: list[Incoming]) -> None:
    with unit_of_work(operator.app.log) as work:
        operator.recorder.record(work, incoming, NOON)
        raise PowerFailure


def test_nothing_is_there_before_the_commit(operator: Operator) -> None:
    incoming = [read_event(event("booking.created", BOOKING))]
    with pytest.raises(PowerFailure):
        record_without_power(operator, incoming)
    assert operator.events() == []
    assert operator.rows(inbox) == operator.rows(personal) == []
    assert operator.app.record(operator.recorder, incoming)[0].status == "accepted"


def test_streams_grow_by_one_version_for_each_event_across_batches_and_recorders(operator: Operator) -> None:
    other = operator.app.recorder()
    operator.record(event("booking.created", BOOKING))
    operator.app.record(other, [read_event(event("booking.changed", {"booking_id": "b1", "attendees": 5}))])
    operator.record(event("booking.changed", {"booking_id": "b1", "attendees": 6}))
    assert [fact.version for fact in facts(operator, "booking/b1")] == [1, 2, 3]


# --- what is wrong ---


def test_every_fault_of_attributes_and_data_is_named_at_once() -> None:
    wrong = {
        "id": "",
        "source": "a\nb",
        "type": "booking.created",
        "time": "2026-05-04T12:00:00",
        "data": {"booking_id": "b1", "member_id": 7, "starts_at": "tomorrow", "price": 18.5, "attendees": -1},
    }
    with pytest.raises(InvalidInput) as caught:
        read_event(wrong)
    places = {".".join(map(str, mistake.path)) for mistake in caught.value.mistakes}
    assert places == {
        "id",
        "source",
        "time",
        "data.resource_id",
        "data.ends_at",
        "data.member_id",
        "data.starts_at",
        "data.price",
        "data.attendees",
    }


@pytest.mark.parametrize(
    ("event_type", "data", "place"),
    [
        ("booking.created", {**BOOKING, "ends_at": BOOKING["starts_at"]}, "data.ends_at"),
        ("booking.created", {**BOOKING, "ends_at": "2026-05-13"}, "data.ends_at"),
        ("booking.created", {**BOOKING, "starts_at": "2026-05-12T10:00:00"}, "data.starts_at"),
        ("booking.created", {**BOOKING, "status": "sung"}, "data.status"),
        ("booking.changed", {"booking_id": "b1", "price": "18.505 EUR"}, "data.price"),
        ("booking.changed", {"booking_id": "b\u0000"}, "data.booking_id"),
        ("booking.changed", {"booking_id": "b1", "reason": "\u0000"}, "data.reason"),
        ("space.opened", {**MITTE, "time_zone": "Europe/Berlinn"}, "data.time_zone"),
        ("space.changed", {"space_id": "s", "quiet_hours": {"start": "22:00", "end": "22:00"}}, "data.quiet_hours"),
        ("member.registered", {**MIA, "phone": "0171 123"}, "data.phone"),
        ("invoice.issued", {**INVOICE, "due_on": "2026-02-30"}, "data.due_on"),
        ("invoice.issued", {**INVOICE, "due_on": "9999-12-31"}, "data.due_on"),
        ("payment.received", {"invoice_id": "i1", "amount": "1.00 EUR"}, "data.payment_id"),
        ("payment.received", {"payment_id": "p1", "invoice_id": "i1", "amount": None}, "data.amount"),
        ("booking.created", "a text", "data"),
        ("booking.created", None, "data"),
    ],
)
def test_a_wrong_body_is_refused_with_its_place(event_type: str, data: Any, place: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_event(event(event_type, data))
    assert place in {".".join(map(str, mistake.path)) for mistake in caught.value.mistakes}


# --- unknown types ---


def test_unknown_types_are_stored_counted_and_otherwise_left_alone(operator: Operator) -> None:
    payload = {"member_id": "m1", "odd": [1, None, "\u0000"]}
    assert statuses(operator, event("coffee.spilt", payload), event("coffee.spilt", None)) == ["accepted"] * 2
    assert statuses(operator, event("coffee.spilt", {"more": 1})) == ["accepted"]
    spilt = [found for found in operator.events("outside/coffee.spilt") if isinstance(found, OutsideEvent)]
    assert [found.version for found in spilt] == [1, 2, 3]
    assert [found.member for found in spilt] == ["m1", "", ""]
    assert all("odd" not in found.model_dump_json() for found in spilt)
    assert len(operator.rows(personal)) == 3


# --- what is personal ---


def stored(operator: Operator) -> str:
    """Return everything in the log, as it is stored."""
    return "".join(bytes(row["state"]).decode() for row in operator.rows(events))


def test_no_personal_value_is_in_the_log(operator: Operator) -> None:
    operator.record(
        event("member.registered", {**MIA, "phone": "+4930123456", "company": "Acme GmbH"}),
        event("booking.created", {**BOOKING, "guest_name": "Bob", "colour": {"shade": "crimson"}}),
        event("booking.cancelled", {"booking_id": "b1", "reason": "has the flu"}),
    )
    log = stored(operator)
    assert [text for text in ("Mia", "mia@", "+49", "Acme", "Bob", "crimson", "flu") if text in log] == []
    assert operator.field("member/m1", "company") == "Acme GmbH"
    assert operator.field("booking/b1", "extra.colour") == {"shade": "crimson"}
    assert operator.field("booking/b1", "reason") == "has the flu"


def test_fields_that_are_not_listed_are_kept_whatever_their_names(operator: Operator) -> None:
    odd = {"": 1, "a b": 2, "ключ": 3, "\u0000": 4, "x" * 5_000: 5, "extra": 6, "model_config": 7, "a/b": 8}
    assert statuses(operator, event("booking.created", {**BOOKING, **odd})) == ["accepted"]
    assert {name: operator.field("booking/b1", f"extra.{name}") for name in odd} == odd


def test_erasing_a_member_deletes_the_values_and_leaves_the_log(operator: Operator) -> None:
    operator.record(*scene(), event("booking.created", {**BOOKING, "note": "loud"}))
    operator.record(event("member.registered", {**MIA, "member_id": "m2"}))
    before = operator.events()
    operator.record(event("member.erased", {"member_id": "m1"}, at=NOON + HOUR))
    assert operator.events()[:-1] == before
    assert {row["member"] for row in operator.rows(personal)} == {"m2"}
    fields = [("member/m1", "name"), ("member/m1", "email"), ("booking/b1", "extra.note")]
    assert [operator.field(*field) for field in fields] == [None] * 3
    assert operator.field("member/m1", "erased") is True


@pytest.mark.parametrize("at", [NOON - HOUR, NOON + HOUR])
def test_what_happened_before_the_erasing_and_comes_later_leaves_no_value_either(operator: Operator, at: Any) -> None:
    operator.record(*scene(), event("booking.created", BOOKING))
    operator.record(event("member.erased", {"member_id": "m1"}, at=NOON + HOUR))
    late = event("booking.changed", {"booking_id": "b1", "reason": "ill", "note": "loud"}, at=at)
    renamed = event("member.changed", {"member_id": "m1", "name": "Maria"}, at=at)
    assert statuses(operator, late, renamed) == ["accepted", "accepted"]
    assert operator.rows(personal) == []


# --- what is known about other things ---


def test_the_first_recorded_booking_of_a_series_opens_it_whatever_its_date(operator: Operator) -> None:
    def one(identifier: str, at: Any) -> Event:
        return event("booking.created", {**BOOKING, "booking_id": identifier, "series_id": "s1"}, at=at)

    operator.record(one("b3", NOON + HOUR), one("b1", NOON))
    operator.app.record(operator.app.recorder(), [read_event(one("b2", NOON))])
    opens = {name: operator.field(f"booking/{name}", "first_in_series") for name in ("b1", "b2", "b3")}
    assert opens == {"b1": False, "b2": False, "b3": True}
    assert operator.topics("series/s1") == ["series.begun"]


def test_a_booking_without_a_series_opens_its_own(operator: Operator) -> None:
    operator.record(event("booking.created", BOOKING))
    assert operator.field("booking/b1", "first_in_series") is True


def test_the_event_date_is_that_of_the_space(operator: Operator) -> None:
    night = NOON.replace(hour=23)
    operator.record(event("space.opened", {**MITTE, "time_zone": "Asia/Tokyo"}), event("resource.added", ROOM))
    operator.record(event("booking.created", BOOKING, at=night))
    assert facts(operator, "booking/b1")[0].event_date == date(2026, 5, 5)


def test_without_a_known_space_the_operators_zone_makes_it_and_it_stays(operator: Operator) -> None:
    night = NOON.replace(hour=22, minute=30)
    operator.record(event("booking.created", BOOKING, at=night))
    operator.record(event("space.opened", {**MITTE, "time_zone": "Europe/London"}), event("resource.added", ROOM))
    operator.record(event("booking.changed", {"booking_id": "b1", "attendees": 5}, at=night))
    assert [fact.event_date for fact in facts(operator, "booking/b1")] == [date(2026, 5, 5), date(2026, 5, 4)]


def test_an_event_counts_by_the_zone_that_its_space_had_then(operator: Operator) -> None:
    operator.record(event("space.opened", MITTE, at=NOON), event("resource.added", ROOM))
    moved = {"space_id": "mitte", "time_zone": "Asia/Tokyo"}
    operator.record(event("space.changed", moved, at=NOON + timedelta(days=2)))
    operator.record(event("booking.created", BOOKING, at=NOON.replace(hour=21)))
    assert facts(operator, "booking/b1")[0].event_date == date(2026, 5, 4)
    walls = {"starts_at": "2026-05-12T10:00:00", "ends_at": "2026-05-12T12:00:00"}
    assert facts(operator, "booking/b1")[0].walls == walls


def test_changed_names_the_fields_whose_value_is_another(operator: Operator) -> None:
    operator.record(*scene(), event("booking.created", BOOKING))
    told = {"booking_id": "b1", "attendees": 4, "price": "9.00 EUR", "reason": "x", "starts_at": "2026-05-12T08:00:00Z"}
    operator.record(event("booking.changed", told, at=NOON + HOUR))
    operator.record(event("booking.changed", {**told, "reason": "y"}, at=NOON + 2 * HOUR))
    operator.record(event("booking.changed", {"booking_id": "b1", "attendees": 1}, at=NOON - HOUR))
    assert [set(fact.changed) for fact in facts(operator, "booking/b1")[1:]] == [{"price", "reason"}, {"reason"}, set()]


# --- the ends of the calendar ---


@pytest.mark.parametrize("instant", ["9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+00:00"])
@pytest.mark.parametrize("default_zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_at_the_ends_of_the_calendar_one_item_is_refused_and_says_why(
    database_url: str, instant: str, default_zone: str
) -> None:
    edge = datetime.fromisoformat(instant)
    with operator_on(database_url) as operator:
        operator.record(*scene(), event("space.changed", {**MITTE, "time_zone": default_zone}))
        spans = {**BOOKING, "booking_id": "b3", "starts_at": instant, "ends_at": instant}
        given = [
            Incoming("a", "1", "booking.created", edge, BOOKING),
            Incoming("a", "2", "booking.created", NOON, {**BOOKING, "booking_id": "b2"}),
            Incoming("a", "3", "booking.created", NOON, spans),
            Incoming("a", "4", "weather.changed", edge, {"sun": True}),
        ]
        found = operator.app.record(operator.recorder, given)
        assert [each.status for each in found] == ["refused", "accepted", "refused", "refused"]
        named = [[".".join(map(str, mistake.path)) for mistake in each.mistakes] for each in found]
        assert named == [["time"], [], ["data.starts_at", "data.ends_at"], ["time"]]
        assert "lies outside of the years" in found[0].mistakes[0].message
        # What was refused has taken no name: put right, it is recorded.
        again = operator.app.record(operator.recorder, [Incoming("a", "1", "booking.created", NOON, BOOKING)])
        assert [each.status for each in again] == ["accepted"]
