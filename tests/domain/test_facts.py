"""Facts and the states they fold to: whatever comes late, twice, in any order or without its beginning."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest

from domain.facts import Entity, Fact, PersonalRef, folded
from domain.invoices import outstanding
from domain.money import Money
from domain.nouns import NOUN_OF_TYPE
from domain.places import zone_at, zone_of

AT = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def fact(event_type: str, after: int = 0, *, sequence: str = "", source: str = "s", id: str = "1", **data: Any) -> Fact:
    """Return a fact that happened so many minutes after noon."""
    noun, time = NOUN_OF_TYPE[event_type], AT + timedelta(minutes=after)
    return Fact(
        stream=noun.entity(data),
        version=1,
        at=AT,
        type=event_type,
        source=source,
        id=id,
        time=time,
        sequence=sequence,
        event_date=date(2026, 5, 4),
        data=noun.types[event_type].completed(data, time.isoformat()),
    )


def state(*facts: Fact) -> Entity:
    numbered = [one.model_copy(update={"version": version}) for version, one in enumerate(facts, 1)]
    return folded(Entity(facts[0].stream), numbered)


def booking(event_type: str, after: int = 0, **data: Any) -> Fact:
    return fact(f"booking.{event_type}", after, booking_id="b1", **data)


def test_an_unknown_entity_has_no_version_and_no_values() -> None:
    entity = Entity("booking/b1")
    assert (entity.known, entity.get("status")) == (False, None)


def test_the_later_value_wins_whatever_came_first() -> None:
    early, late = booking("changed", 1, attendees=2), booking("changed", 2, attendees=5)
    assert [state(*order).get("attendees") for order in permutations((early, late))] == [5, 5]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"sequence": "1"}, {"sequence": "2"}),
        ({"sequence": ""}, {"sequence": "1"}),
        ({"sequence": "10"}, {"sequence": "9"}),
        ({"source": "a", "id": "9"}, {"source": "b", "id": "1"}),
        ({"id": "1"}, {"id": "2"}),
        ({"sequence": "1", "source": "z"}, {"sequence": "2", "source": "a"}),
    ],
)
def test_at_one_instant_sequence_then_source_then_id_decide_as_text(one: dict[str, Any], other: dict[str, Any]) -> None:
    loser, winner = booking("changed", attendees=2, **one), booking("changed", attendees=5, **other)
    assert [state(*order).get("attendees") for order in permutations((loser, winner))] == [5, 5]


def test_each_field_has_a_winner_of_its_own() -> None:
    facts = [booking("changed", 1, attendees=2, price="5.00 EUR"), booking("changed", 2, attendees=3)]
    for order in permutations(facts):
        entity = state(*order)
        assert (entity.get("attendees"), entity.get("price")) == (3, Money.parse("5.00 EUR"))


def test_null_takes_a_value_away_and_loses_against_a_later_one() -> None:
    facts = [booking("changed", 1, attendees=2), booking("changed", 2, attendees=None)]
    assert {state(*order).get("attendees") for order in permutations(facts)} == {None}
    facts.append(booking("changed", 3, attendees=7))
    assert {state(*order).get("attendees") for order in permutations(facts)} == {7}


def test_a_cancelled_booking_stays_cancelled_though_its_beginning_comes_later() -> None:
    made = booking("created", 1, member_id="m1", resource_id="r1", starts_at="2026-05-12T08:00:00Z", ends_at=None)
    facts = [made, booking("changed", 2, attendees=4), booking("cancelled", 3)]
    for order in permutations(facts):
        entity = state(*order)
        assert (entity.get("status"), entity.get("attendees"), entity.get("member_id")) == ("cancelled", 4, "m1")


def test_unless_a_later_event_says_otherwise() -> None:
    facts = [booking("cancelled", 3), booking("changed", 4, status="confirmed")]
    assert {state(*order).get("status") for order in permutations(facts)} == {"confirmed"}


def test_a_change_behind_the_cancelling_does_not_revive_it() -> None:
    facts = [booking("cancelled", 3), booking("changed", 4, attendees=4)]
    assert {state(*order).get("status") for order in permutations(facts)} == {"cancelled"}


@pytest.mark.parametrize("silent", [{}, {"status": None}])
def test_what_a_type_means_where_it_is_silent_null_says_too(silent: dict[str, Any]) -> None:
    assert booking("created", **silent).data["status"] == "confirmed"
    assert booking("created", status="pending").data["status"] == "pending"


def test_what_a_type_says_by_having_happened_no_field_contradicts() -> None:
    assert booking("cancelled", status="confirmed").data["status"] == "cancelled"


@pytest.mark.parametrize("told", [{}, {"checked_in_at": None}])
def test_checking_in_takes_the_time_of_the_fact(told: dict[str, Any]) -> None:
    assert state(booking("checked_in", 5, **told)).get("checked_in_at") == AT + timedelta(minutes=5)


def payment(identifier: str, kind: str, amount: str, after: int = 0, **named: Any) -> Fact:
    return fact(f"payment.{kind}", after, payment_id=identifier, invoice_id="i1", amount=amount, **named)


def test_payments_may_come_before_their_invoice_and_twice() -> None:
    told: dict[str, Any] = {"space_id": "s", "member_id": "m", "total": "50.00 EUR", "due_on": "2026-05-20"}
    issued = fact("invoice.issued", invoice_id="i1", **told)
    facts = [issued, payment("p1", "received", "20.00 EUR"), payment("p2", "received", "5.00 EUR", id="2")]
    for order in permutations([*facts, facts[1]]):
        entity = state(*order)
        assert outstanding(entity.get("total"), entity.part_values()) == Money.parse("25.00 EUR")


def test_the_later_fact_about_one_payment_wins() -> None:
    facts = [payment("p1", "received", "20.00 EUR"), payment("p1", "failed", "20.00 EUR", 1, id="2")]
    for order in permutations(facts):
        assert [part["type"] for part in state(*order).part_values()] == ["payment.failed"]


def test_a_personal_value_is_known_by_its_reference() -> None:
    told = fact("member.registered", member_id="m1", name="x")
    apart = {"data": {"member_id": "m1"}, "member": "m1", "personal": {"name": "member/m1/1/name"}}
    kept = told.model_copy(update=apart)
    assert state(kept).get("name") == PersonalRef("m1", "member/m1/1/name")


def space(after: int, zone: str | None, event_type: str = "space.changed") -> Fact:
    return fact(event_type, after, space_id="s", time_zone=zone)


def test_a_space_remembers_the_zones_it_had() -> None:
    facts = [space(0, "Europe/Berlin"), space(10, "Europe/Madrid")]
    here = fact("booking.changed", booking_id="b1", space_id="s")
    for order in permutations(facts):
        entities = {"space/s": state(*order)}
        of = state(here)
        assert zone_of(of, entities.__getitem__) == "Europe/Madrid"
        minutes = [-5, 0, 9, 10]
        zones = [zone_at(of, entities.__getitem__, AT + timedelta(minutes=after)) for after in minutes]
        assert zones == ["Europe/Berlin", "Europe/Berlin", "Europe/Berlin", "Europe/Madrid"]


def test_since_says_when_a_field_got_the_value_that_it_has() -> None:
    first = booking("changed", 1, attendees=2)
    same = booking("changed", 2, attendees=2).model_copy(update={"at": AT + timedelta(hours=1)})
    other = booking("changed", 3, attendees=3).model_copy(update={"at": AT + timedelta(hours=2)})
    assert state(first, same).since["attendees"] == AT
    assert state(first, same, other).since["attendees"] == AT + timedelta(hours=2)
