"""The way out of bulk mails: a link that cannot be made by anybody else (RFC 8058)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automations.notifications.unsubscribing import PATH, Leaving, leaving_of, token_of, way_out_of
from domain.deliveries import DeliveryPending, delivery_stream
from domain.errors import InvalidInput
from domain.preferences import Subject

AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
LEAVING = Leaving("m1", Subject("news", "email"))
SALT = b"salt"


def asked(**changes: Any) -> DeliveryPending:
    values = {
        "stream": delivery_stream("n1", "email", "member/m1"),
        "version": 1,
        "at": AT,
        "notification": "n1",
        "producer": "tests",
        "type": "news",
        "to": "member/m1",
        "channel": "email",
        "address": "member/m1",
        "lane": "bulk",
        "requested_at": AT,
        "expires_at": AT,
    }
    return DeliveryPending.model_validate(values | changes)


@given(st.text(min_size=1, max_size=200))
def test_a_token_stands_for_what_it_was_made_of(member: str) -> None:
    leaving = Leaving(member, Subject("news", "email"))
    assert leaving_of(token_of(leaving, SALT), SALT) == leaving


def test_it_is_the_same_each_time_and_another_for_each_operator() -> None:
    assert token_of(LEAVING, SALT) == token_of(LEAVING, SALT) != token_of(LEAVING, b"other")
    with pytest.raises(InvalidInput):
        leaving_of(token_of(LEAVING, SALT), b"other")


@pytest.mark.parametrize("place", [0, 10, 21, 22, 30, -1])
def test_a_token_that_was_changed_anywhere_is_none(place: int) -> None:
    token = token_of(LEAVING, SALT)
    changed = "A" if token[place] != "A" else "B"
    rest = token[place + 1 :] if place != -1 else ""
    with pytest.raises(InvalidInput, match="none of ours"):
        leaving_of(f"{token[:place]}{changed}{rest}", SALT)


@pytest.mark.parametrize("token", ["", "x", "ü", "=" * 50, "A" * 5_000, "AAAA AAAA", "../../etc"])
def test_what_is_no_token_is_refused_and_breaks_nothing(token: str) -> None:
    with pytest.raises(InvalidInput):
        leaving_of(token, SALT)


def test_bulk_mails_to_members_have_a_way_out() -> None:
    url = way_out_of("https://semel.example.org/", SALT)(asked())
    assert url.startswith(f"https://semel.example.org{PATH}")
    assert leaving_of(url.rpartition("/")[2], SALT) == LEAVING


@pytest.mark.parametrize(
    "changes",
    [{"mandatory": True}, {"lane": "transactional"}, {"channel": "sms"}, {"to": "staff"}],
)
def test_nothing_else_has(changes: dict[str, Any]) -> None:
    assert way_out_of("https://semel.example.org", SALT)(asked(**changes)) == ""


def test_without_a_public_url_there_is_none() -> None:
    assert way_out_of("", SALT)(asked()) == ""
