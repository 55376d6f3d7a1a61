"""Yes/no fields that nobody has told are no, as long as there is anything to say it about."""

from __future__ import annotations

from typing import Any

import pytest

from tests.automations.worlds import Ledger, book, scene

INVOICE: dict[str, Any] = {"space_id": "mitte", "member_id": "m1", "total": "10 EUR", "due_on": "2026-05-20"}


@pytest.mark.parametrize(
    ("path", "value"),
    [("booking.all_day", False), ("member.staff", False), ("member.erased", False), ("booking.attendees", None)],
)
def test_a_flag_that_is_not_told_is_no_and_other_fields_are_missing(path: str, value: object) -> None:
    ledger = scene()
    ledger.tell("booking.created", booking_id="b1", member_id="m1", resource_id="r1")
    assert ledger.situation("booking/b1").value(path) is value


@pytest.mark.parametrize(("told", "value"), [({}, False), ({"automatic_collection": True}, True)])
def test_a_flag_is_what_was_told(told: dict[str, Any], value: bool) -> None:
    ledger = scene()
    ledger.tell("invoice.issued", invoice_id="i1", **INVOICE, **told)
    assert ledger.situation("invoice/i1").value("invoice.automatic_collection") is value


def test_of_an_entity_that_nothing_is_known_about_a_flag_is_missing() -> None:
    ledger = Ledger()
    book(ledger)
    assert ledger.situation("booking/b1").value("member.staff") is None


def test_a_flag_before_a_change_is_no_as_well() -> None:
    ledger = scene()
    ledger.tell("invoice.issued", invoice_id="i1", **INVOICE)
    changed = ledger.tell("invoice.changed", invoice_id="i1", automatic_collection=True)
    situation = ledger.situation("invoice/i1", event=changed)
    assert situation.value("event.before.automatic_collection") is False
    assert situation.value("event.automatic_collection") is True
