"""The embedded access service: one grant for an entity, a door and a member."""

from __future__ import annotations

from datetime import timedelta

from domain.endings import Refused
from tests.adapters.services.commands import END, START, grant, revoke
from tests.adapters.services.desk import AT, ServiceDesk

LATER = END + timedelta(hours=1)


def test_a_later_grant_replaces_an_earlier_one(desk: ServiceDesk) -> None:
    first = desk.done(grant())
    second = desk.done(grant(until=LATER), key="k/1", at=AT + timedelta(minutes=1))

    assert first == second
    state = desk.state(f"access/{first['access_id']}")
    assert (state.get("valid_from"), state.get("valid_until"), state.get("status")) == (
        START,
        LATER,
        "granted",
    )


def test_what_was_decided_last_holds_even_if_the_clock_stood_still_or_was_set_back(desk: ServiceDesk) -> None:
    stream = f"access/{desk.done(grant(), key='z')['access_id']}"

    desk.done(revoke(), key="y")
    assert desk.state(stream).get("status") == "revoked"
    desk.done(grant(until=LATER), key="x", at=AT - timedelta(days=1))
    assert desk.state(stream).get("status") == "granted"
    desk.done(revoke(), key="w", at=AT - timedelta(days=2))
    assert desk.state(stream).get("status") == "revoked"


def test_withdrawing_takes_only_what_the_same_entity_granted(desk: ServiceDesk) -> None:
    own, other = desk.done(grant()), desk.done(grant(entity="booking/b2"), key="k/1")

    assert desk.done(revoke(), key="k/2") == own

    assert desk.state(f"access/{own['access_id']}").get("status") == "revoked"
    assert desk.state(f"access/{other['access_id']}").get("status") == "granted"


def test_withdrawing_what_was_never_granted_is_done_and_its_repeat_harmless(desk: ServiceDesk) -> None:
    nothing = desk.done(revoke(), key="k/0")
    granted = desk.done(grant(), key="k/1", at=AT + timedelta(minutes=1))

    assert desk.done(revoke(), key="k/0", at=AT + timedelta(minutes=2)) == nothing == granted
    assert desk.state(f"access/{granted['access_id']}").get("status") == "granted"


def test_an_erased_member_gets_no_access_but_loses_what_there_was(desk: ServiceDesk) -> None:
    granted = desk.done(grant())
    desk.tell("member.erased", member_id="m1")

    assert isinstance(desk.ask(grant(), key="k/1"), Refused)
    desk.done(revoke(), key="k/2")
    assert desk.state(f"access/{granted['access_id']}").get("status") == "revoked"


def test_access_that_would_end_before_it_begins_is_refused(desk: ServiceDesk) -> None:
    ending = desk.ask(grant(until=START))

    assert isinstance(ending, Refused)
    assert ending.at_fault == "rule"
