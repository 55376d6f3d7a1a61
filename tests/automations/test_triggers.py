"""The triggers of the contract, and when a run of each is not wanted any more."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from automations.limits import LimitKind
from automations.triggers import triggers
from domain.money import Money
from domain.nouns import NOUN_OF_TYPE
from tests.automations.known_facts import KnownFacts

EVENTS = [
    "booking.cancelled",
    "booking.changed",
    "booking.checked_in",
    "booking.checked_out",
    "booking.created",
    "booking.no_show",
    "invoice.changed",
    "invoice.issued",
    "invoice.voided",
    "member.registered",
    "payment.failed",
    "payment.received",
    "subscription.cancelled",
    "subscription.changed",
    "subscription.renewed",
    "subscription.started",
]
CLOCKS = {
    "booking.ended": "after",
    "booking.ending": "before",
    "booking.starting": "before",
    "invoice.due": "before",
    "invoice.overdue": "after",
    "reminder.due": None,
    "subscription.ended": "after",
    "subscription.expiring": "before",
}


def test_there_is_every_trigger_of_the_contract() -> None:
    assert list(triggers) == sorted([*EVENTS, *CLOCKS])


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_trigger_is_named_after_a_type_of_fact_and_acts_once_for_an_event(name: str) -> None:
    trigger = triggers[name]
    assert not trigger.IS_CLOCK
    assert name in NOUN_OF_TYPE
    assert trigger.ONCE[0] == "event"
    assert trigger.LIMIT.kind is LimitKind.NONE


@pytest.mark.parametrize(("name", "offset"), CLOCKS.items())
def test_a_clock_trigger_has_an_offset_and_acts_once_for_a_date(name: str, offset: str | None) -> None:
    trigger = triggers[name]
    assert trigger.IS_CLOCK
    assert offset == trigger.OFFSET
    assert trigger.ONCE[0] == "date"
    assert set(trigger.ONCE) == {"date", "moment", "entity"}
    assert set(trigger.model_fields) == ({offset} if offset else set())


@pytest.mark.parametrize(
    ("name", "facts", "reason"),
    [
        ("booking.created", {"booking.status": "confirmed"}, None),
        ("booking.created", {}, None),
        ("booking.created", {"booking.status": "cancelled"}, "booking cancelled"),
        ("booking.created", {"member.erased": True}, "member erased"),
        ("booking.no_show", {"booking.status": "no_show"}, None),
        ("booking.cancelled", {"booking.status": "cancelled"}, None),
        ("booking.cancelled", {"booking.status": "cancelled", "member.erased": True}, "member erased"),
        ("invoice.issued", {"invoice.status": "voided"}, "invoice voided"),
        ("payment.received", {"invoice.status": "voided"}, "invoice voided"),
        ("invoice.voided", {"invoice.status": "voided"}, None),
        ("subscription.renewed", {"subscription.status": "cancelled"}, "subscription cancelled"),
        ("subscription.cancelled", {"subscription.status": "cancelled"}, None),
        ("member.registered", {"member.erased": True}, "member erased"),
        ("booking.starting", {"booking.status": "confirmed"}, None),
        ("booking.starting", {"booking.status": "pending"}, "booking pending"),
        ("booking.starting", {"booking.status": "cancelled"}, "booking cancelled"),
        ("booking.ended", {"booking.status": "no_show"}, "booking no show"),
        ("booking.ending", {}, "booking not confirmed"),
        ("invoice.overdue", {"invoice.outstanding": Money.parse("1 EUR")}, None),
        ("invoice.overdue", {"invoice.outstanding": Money.parse("0 EUR")}, "nothing outstanding"),
        ("invoice.overdue", {}, "nothing outstanding"),
        (
            "invoice.due",
            {
                "invoice.outstanding": Money.parse("-1 EUR"),
                "invoice.paid_at": datetime(2026, 4, 4, 9, 0, 2, tzinfo=UTC),
            },
            "invoice paid 09:00:02",
        ),
        ("invoice.due", {"invoice.status": "voided"}, "invoice voided"),
        ("subscription.expiring", {"subscription.status": "active"}, None),
        ("subscription.ended", {"subscription.status": "cancelled"}, "subscription cancelled"),
        ("reminder.due", {"reminder.status": "scheduled"}, None),
        ("reminder.due", {"reminder.status": "completed"}, "reminder completed"),
    ],
)
def test_a_recheck_learns_why_a_run_is_not_wanted_any_more(
    name: str, facts: dict[str, object], reason: str | None
) -> None:
    assert triggers[name].still_wanted(KnownFacts(facts)) == reason
