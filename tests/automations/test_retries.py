"""When a call is tried again: arithmetic that no number and no instant can break (delivery trials C9, N13)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automations.retries import SERVICE_DELAYS, SERVICE_RETRIES, RetrySchedule

AT = datetime(2026, 5, 12, 10, 0, tzinfo=UTC)
DAY = timedelta(hours=24)

attempts = st.integers(1, 20)
jitters = st.floats(0.8, 1.2)
waits = st.timedeltas(timedelta(0), timedelta(days=3_000_000))


@pytest.mark.parametrize("attempt", range(1, 10))
def test_the_waits_are_those_of_the_schedule(attempt: int) -> None:
    assert SERVICE_RETRIES.next_attempt(attempt, first=AT, now=AT) == AT + SERVICE_DELAYS[attempt - 1]


@pytest.mark.parametrize("attempt", [11, 10_000, 10**30])
def test_after_the_last_wait_it_gives_up_however_many_attempts_there_were(attempt: int) -> None:
    assert SERVICE_RETRIES.next_attempt(attempt, first=AT, now=AT) is None


def test_c9_ten_thousand_attempts_overflow_nothing() -> None:
    endless = RetrySchedule((timedelta(seconds=1),) * 10_000, oldest=timedelta(days=365))
    assert endless.next_attempt(10_000, first=AT, now=AT, jitter=1.2) == AT + timedelta(seconds=1.2)
    assert endless.next_attempt(10_001, first=AT, now=AT) is None


def test_it_gives_up_a_day_after_the_first_attempt() -> None:
    last = AT + DAY - SERVICE_DELAYS[0]
    assert SERVICE_RETRIES.next_attempt(1, first=AT, now=last) == AT + DAY
    assert SERVICE_RETRIES.next_attempt(1, first=AT, now=last + timedelta(microseconds=1)) is None


@given(attempts, jitters)
def test_without_a_wish_of_the_service_jitter_stays_within_a_fifth(attempt: int, jitter: float) -> None:
    again = SERVICE_RETRIES.next_attempt(attempt, first=AT, now=AT, jitter=jitter)
    if again is not None:
        plain = SERVICE_DELAYS[attempt - 1]
        assert plain * 0.8 <= again - AT <= plain * 1.2


@given(attempts, jitters, waits)
def test_n13_what_a_service_asks_for_is_never_undercut(attempt: int, jitter: float, asked: timedelta) -> None:
    again = SERVICE_RETRIES.next_attempt(attempt, first=AT, now=AT, jitter=jitter, asked=asked)
    assert again is None or again - AT >= asked


@given(jitters)
def test_c9_waits_never_get_shorter(jitter: float) -> None:
    forever = RetrySchedule(SERVICE_DELAYS, oldest=timedelta(days=999))
    waits = [forever.next_attempt(n, first=AT, now=AT, jitter=jitter) for n in range(1, len(SERVICE_DELAYS) + 1)]
    known = [wait for wait in waits if wait is not None]
    assert known == sorted(known)
    assert len(known) == len(SERVICE_DELAYS)


@given(waits)
def test_c9_no_wish_leads_out_of_the_calendar(asked: timedelta) -> None:
    now = datetime(9990, 1, 1, tzinfo=UTC)
    forever = RetrySchedule(SERVICE_DELAYS, oldest=timedelta(days=3_000_000))
    again = forever.next_attempt(1, first=now, now=now, jitter=1.2, asked=asked)
    assert again is None or again > now
