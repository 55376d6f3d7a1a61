"""How long services ask to be left alone, in every form that was seen (trial C7)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.channels.replies.retry_after import asked_wait
from automations.retries import LONGEST_WAIT

AT = datetime(2026, 10, 21, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", timedelta(seconds=120)),
        (" 120 ", timedelta(seconds=120)),
        ("1.5", timedelta(seconds=1.5)),
        ("Wed, 21 Oct 2026 07:28:00 GMT", timedelta(minutes=28)),
        ("Wednesday, 21-Oct-26 07:28:00 GMT", timedelta(minutes=28)),
        ("Wed Oct 21 07:28:00 2026", timedelta(minutes=28)),
        ("Wed, 21 Oct 2026 06:59:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_WAIT),
        ("Fri, 31 Dec 9999 23:59:59 -2359", LONGEST_WAIT),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("0", None),
        ("1e18", LONGEST_WAIT),
        ("9" * 5_000, LONGEST_WAIT),
        ("1e999", LONGEST_WAIT),
        ("inf", LONGEST_WAIT),
        ("-inf", None),
        ("nan", None),
        ("1_000", None),
        ("１２０", None),
        ("120, 240", None),
    ],
)
def test_c7_every_form_is_a_wait_or_none(value: str | None, wait: timedelta | None) -> None:
    assert asked_wait(value, AT) == wait


@given(st.one_of(st.text(), st.floats().map(str), st.integers().map(str), st.datetimes().map(str)))
def test_c7_no_form_breaks_anything(value: str) -> None:
    wait = asked_wait(value, AT)
    assert wait is None or timedelta() < wait <= LONGEST_WAIT
