"""Addresses that must not be written to: by scope, once for each cause, and not for ever (delivery trials D5, F5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from domain.suppressions import (
    Scope,
    Suppressions,
    Why,
    alive,
    lifted,
    suppressed,
    suppression_stream,
    suppressions_of,
)

AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
STREAM = suppression_stream("email", "mia@example.org", b"salt")
MONTH = timedelta(days=30)


def against(why: Why, scope: Scope | None = None) -> Suppressions:
    return suppressions_of(STREAM, suppressed(Suppressions(STREAM), "email", why, at=AT, scope=scope, source="e1"))


def test_an_address_is_known_by_a_hash_that_nobody_can_guess() -> None:
    assert suppression_stream("email", "Mia@Example.org ", b"salt") == STREAM
    assert "mia" not in STREAM
    others = {
        suppression_stream(*each) for each in (("sms", "mia@example.org", b"salt"), ("email", "m@x.org", b"salt"))
    }
    assert len(others | {STREAM, suppression_stream("email", "mia@example.org", b"other")}) == 4


def test_a_hard_bounce_is_over_after_thirty_days_to_the_microsecond() -> None:
    found = against("hard_bounce")
    assert found.against("news", AT + MONTH - timedelta(microseconds=1)) is not None
    assert found.against("news", AT + MONTH) is None


@pytest.mark.parametrize("why", ["complaint", "opt_out", "staff"])
def test_nothing_else_is_ever_over_by_itself(why: Why) -> None:
    assert against(why).against("news", AT + 1_000 * MONTH) is not None


def test_d5_forty_six_times_the_same_bounce_is_one_suppression() -> None:
    found, recorded = Suppressions(STREAM), 0
    for number in range(46):
        events = suppressed(found, "email", "hard_bounce", at=AT + timedelta(seconds=number), source="e1")
        recorded += len(events)
        found = suppressions_of(STREAM, events) if events else found
    assert recorded == 1


def test_what_was_heard_before_suppresses_nothing_anew_but_another_bounce_does() -> None:
    found = against("hard_bounce")
    later = AT + 2 * MONTH
    assert suppressed(found, "email", "hard_bounce", at=later, source="e1") == []
    assert len(suppressed(found, "email", "hard_bounce", at=later, source="e2")) == 1
    assert suppressed(found, "email", "hard_bounce", at=AT + timedelta(days=1), source="e2") == []


def test_f5_what_is_against_one_type_is_not_against_another() -> None:
    found = against("opt_out", Scope(type="news"))
    assert found.against("news", AT) is not None
    assert found.against("booking-confirmed", AT) is None


def test_what_is_against_one_sender_is_not_against_another_but_counts_where_nobody_knows_who_sends() -> None:
    found = against("opt_out", Scope(sender="+34600000000"))
    assert found.against("news", AT, sender="+34600000000") is not None
    assert found.against("news", AT, sender="+34611111111") is None
    assert found.against("news", AT) is not None


def test_a_proof_of_life_lifts_bounces_and_no_wish() -> None:
    bounced = against("hard_bounce")
    [event] = alive(bounced, at=AT)
    assert bounced.after(event).against("news", AT) is None
    assert alive(against("complaint"), at=AT) == []
    assert alive(against("opt_out"), at=AT) == []


def test_staff_lift_whatever_stands() -> None:
    found = against("complaint")
    [event] = lifted(found, at=AT, reason="they asked for it by phone", by="ines")
    assert found.after(event).against("news", AT) is None
    assert lifted(found.after(event), at=AT, reason="again") == []


def test_what_lasts_longest_is_told() -> None:
    found = against("hard_bounce")
    for event in suppressed(found, "email", "complaint", at=AT, source="e2", detail="abuse"):
        found = found.after(event)
    told = found.against("news", AT)
    assert told is not None
    assert str(told) == "complaint (abuse)"
