"""Settings come to values, or say why not: members, languages, lengths and the edge of the calendar."""

from __future__ import annotations

from datetime import datetime

import pytest
from pydantic import ValidationError

from automations.resolving import SettingUnfit
from tests.automations.actions.facts import AT, BOOKING, KnownFacts, action, asked, unfit


@pytest.mark.parametrize("member", ["staff", "m2", "member", "", 2])
def test_another_member_is_written_as_an_entity(member: object) -> None:
    with pytest.raises(ValidationError):
        action("revoke_access", door="d1", member=member)


def test_another_member_may_come_from_a_fact() -> None:
    facts: dict[str, object] = {"booking.extra.host": "m3", "booking.extra.who": "Mia"}
    command = asked("revoke_access", facts, door="d1", member="member/{{ booking.extra.host }}")
    assert command.member_id == "m3"
    assert unfit("revoke_access", facts, door="d1", member="{{ booking.extra.who }}") == (
        "member: does not come to a member, such as member/m2"
    )


def test_without_a_language_of_the_member_it_is_that_of_the_space_and_else_english() -> None:
    known: tuple[dict[str, object], ...] = (
        {},
        {"member.locale": None},
        {"member.locale": None, "space.locale": None},
    )
    texts = [
        asked("charge_fee", facts, amount="1 EUR", reason="{{ booking.starts_at | date }}").reason for facts in known
    ]
    assert texts == ["12. Mai 2026", "12 maggio 2026", "May 12, 2026"]


def test_a_text_without_end_is_named() -> None:
    facts: dict[str, object] = {"member.name": "x" * 20_000}
    assert unfit("create_task", facts, title="{{ member.name }}") == ("title: comes to more than 10000 characters")


def test_an_instant_out_of_the_calendar_is_named() -> None:
    edge = datetime(9999, 12, 30, tzinfo=AT.tzinfo)
    for name, settings in (
        ("create_task", {"title": "x", "due": "3 days"}),
        ("issue_invoice", {"total": "1 EUR"}),
    ):
        with pytest.raises(SettingUnfit, match=r"due: .* leads out of the calendar"):
            action(name, **settings).command(KnownFacts(BOOKING), edge)
