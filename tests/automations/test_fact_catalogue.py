"""Which facts exist, with their types, for which trigger."""

from __future__ import annotations

import pytest

from automations.derived_facts import DERIVED
from automations.fact_catalogue import KINDS, FactCatalogue, UnknownFact, catalogue_of, is_branch
from automations.triggers import triggers
from automations.value_types import ValueType

BOOKING = catalogue_of(("booking", "member", "resource", "space", "event"), "booking.changed")
STARTING = catalogue_of(("booking", "member", "resource", "space"))
PAYMENT = triggers["payment.received"].catalogue()

TYPES = {
    "booking.attendees": ValueType.NUMBER,
    "booking.price": ValueType.MONEY,
    "booking.starts_at": ValueType.INSTANT,
    "booking.all_day": ValueType.YES_NO,
    "booking.status": ValueType.CHOICE,
    "booking.duration": ValueType.DURATION,
    "booking.weekday": ValueType.CHOICE,
    "booking.start_time": ValueType.CLOCK,
    "booking.date": ValueType.DATE,
    "booking.door_left": ValueType.TEXT,
    "booking.first_in_series": ValueType.YES_NO,
    "booking.extra.code": ValueType.ANY,
    "booking.extra.door code": ValueType.ANY,
    "booking.extra.a.b": ValueType.ANY,
    "member.tags": ValueType.TEXTS,
    "member.company": ValueType.TEXT,
    "member.bookings_before": ValueType.NUMBER,
    "resource.kind": ValueType.CHOICE,
    "space.quiet_hours.start": ValueType.CLOCK,
    "event.changed": ValueType.TEXTS,
    "event.type": ValueType.TEXT,
    "event.time": ValueType.INSTANT,
    "event.attendees": ValueType.NUMBER,
    "event.before.status": ValueType.CHOICE,
    "event.before.extra.code": ValueType.ANY,
}


@pytest.mark.parametrize(("path", "value_type"), TYPES.items())
def test_a_fact_has_the_type_of_its_field(path: str, value_type: ValueType) -> None:
    assert BOOKING.find(path).type is value_type


@pytest.mark.parametrize(
    ("path", "value_type"),
    {
        "payment.amount": ValueType.MONEY,
        "invoice.outstanding": ValueType.MONEY,
        "invoice.days_overdue": ValueType.NUMBER,
        "invoice.due_on": ValueType.DATE,
        "subscription.ends_on": ValueType.DATE,
        "event.amount": ValueType.MONEY,
    }.items(),
)
def test_a_payment_shows_its_invoice_and_what_belongs_to_it(path: str, value_type: ValueType) -> None:
    assert PAYMENT.find(path).type is value_type


@pytest.mark.parametrize("derived", DERIVED, ids=".".join)
def test_every_fact_that_is_computed_is_known(derived: tuple[str, str]) -> None:
    assert ".".join(derived) in FactCatalogue(KINDS)


def test_what_says_something_about_a_person_is_personal() -> None:
    personal = {fact.path for fact in BOOKING if fact.personal and fact.path.startswith("member.")}
    assert personal == {"member.name", "member.email", "member.phone", "member.company"}
    assert BOOKING.find("booking.extra.anything").personal


@pytest.mark.parametrize(
    ("catalogue", "path", "message"),
    [
        (
            BOOKING,
            "booking.atendees",
            r"no fact is called 'booking.atendees'; did you mean booking.attendees\?",
        ),
        (BOOKING, "booking.starts", r"did you mean booking.starts_at\?"),
        (BOOKING, "invoice.total", "this trigger has no invoice; it offers booking, member"),
        (STARTING, "event.changed", "only event triggers have an event"),
        (BOOKING, "name", r"did you mean member.name or resource.name or space.name\?"),
        (BOOKING, "weather.sunny", "facts begin with booking, member, resource, space, event"),
        (BOOKING, "booking.extra", "no fact is called"),
        (BOOKING, "booking.extra.", "no fact is called"),
        (BOOKING, "booking", "no fact is called"),
        (BOOKING, "", "no fact is called ''"),
        (BOOKING, "x" * 10_000, "facts begin with"),
    ],
)
def test_an_unknown_fact_is_told_with_what_may_be_meant(catalogue: FactCatalogue, path: str, message: str) -> None:
    with pytest.raises(UnknownFact, match=message):
        catalogue.find(path)
    assert path not in catalogue


@pytest.mark.parametrize("path", ["booking.extra", "event.before", "event.before.extra", "space.quiet_hours"])
def test_names_with_facts_below_them_are_no_values(path: str) -> None:
    assert is_branch(path)
    assert BOOKING.has_below(path)
    assert path not in BOOKING


@pytest.mark.parametrize("name", triggers)
def test_every_trigger_offers_facts_of_its_own_entity(name: str) -> None:
    trigger = triggers[name]
    assert trigger.KIND in trigger.ROOTS
    assert set(trigger.ROOTS) - {"event"} <= set(KINDS)
    assert ("event" in trigger.ROOTS) is not trigger.IS_CLOCK
    assert f"{trigger.KIND}.{trigger.KIND}_id" in trigger.catalogue()
