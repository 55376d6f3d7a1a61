"""Requests to tell somebody: who, what, and whether it was asked before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from domain.commands import RequestNotification
from domain.facts import Entity
from domain.notifications import (
    EXECUTIONS,
    Requested,
    is_recipient,
    is_repeat,
    is_type_name,
    notification_of,
    request,
)

AT = datetime(2026, 5, 12, 8, tzinfo=UTC)
COMMAND = RequestNotification(entity="booking/b1", member_id="m1", to="staff", type="reminder", payload={"name": "Mia"})


def requested(command: RequestNotification = COMMAND) -> Requested:
    found = request(command, Entity, idempotency_key="k/0", at=AT, cause=None)
    assert isinstance(found, Requested)
    return found


def test_the_stream_comes_from_the_producer_and_its_key() -> None:
    assert requested().event.stream == notification_of(EXECUTIONS, "k/0")
    streams = {notification_of(producer, key) for producer in ("ab", "a") for key in ("c", "bc")}
    assert len(streams) == 4


def test_the_payload_belongs_to_whom_it_is_about_and_else_to_the_recipient() -> None:
    assert requested().event.member == "m1"
    to_somebody = COMMAND.model_copy(update={"member_id": "", "to": "member/m2"})
    assert requested(to_somebody).event.member == "m2"
    assert requested(COMMAND.model_copy(update={"member_id": ""})).event.member == ""


@pytest.mark.parametrize(
    ("change", "repeat"),
    [
        ({}, True),
        ({"payload": {"name": "Ana"}}, False),
        ({"payload": {}}, False),
        ({"to": "member/m1"}, False),
        ({"type": "other"}, False),
        ({"entity": "booking/b2"}, False),
        ({"member_id": "m2"}, False),
    ],
)
def test_a_repeat_asks_for_exactly_the_same(change: dict[str, Any], repeat: bool) -> None:
    known = requested().event

    assert is_repeat(known, {"name": "Mia"}, COMMAND.model_copy(update=change)) is repeat


def test_an_erased_payload_can_no_longer_tell_requests_apart() -> None:
    assert is_repeat(requested().event, None, COMMAND.model_copy(update={"payload": {"name": "Ana"}}))


def test_names_of_types_and_recipients() -> None:
    assert all(map(is_type_name, ["ready.access-instructions", "x", "a_b.9"]))
    assert not any(map(is_type_name, ["", "Reminder", "a b", "é", "a\n", "a" * 101]))
    assert all(map(is_recipient, ["staff", "member/m1", "member/a/b"]))
    assert not any(map(is_recipient, ["", "member", "member/", "m1", "booking/b1", "ana@example.org"]))
