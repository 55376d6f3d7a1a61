"""A bounce is held against an address only where its class says so; no class, or an unknown one, does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.callbacks.plain_reports import receipts_of
from domain.errors import InvalidInput

UNKNOWN: list[Any] = ["", "sofft", "soft", "Undetermined", "Transient", 1, None, []]


def read(told: dict[str, Any]) -> tuple[str, str]:
    [receipt] = receipts_of(json.dumps(told))
    return receipt.kind, receipt.bounce


@pytest.mark.parametrize(
    "told",
    [
        {"type": "bounced"},
        {"type": "bounced", "detail": "5.1.1"},
        *({"type": "bounced", "bounce": each} for each in UNKNOWN),
        {"type": "bounced", "bounce": {}},
        {"type": "bounced", "bounce": {"type": "Undetermined"}},
        {"type": "bounced", "bounce_type": "blocked"},
        {"event": "bounce", "type": "blocked"},
        {"event": "bounce", "type": "expired"},
        {"event": "dropped"},
        {"event": "failed"},
        {"event": "failed", "severity": "unknown"},
    ],
    ids=json.dumps,
)
def test_none_or_an_unknown_class_is_soft(told: dict[str, Any]) -> None:
    assert read(told) == ("bounced", "soft")


@pytest.mark.parametrize(
    "told",
    [
        *({"type": "bounced", "bounce": each} for each in ("hard", "Permanent", "HardBounce", "hard_bounce", " hard ")),
        {"type": "email.bounced", "data": {"bounce": {"type": "Permanent", "subType": "General"}}},
        {"type": "bounce", "bounce_type": "hard"},
        {"event": "failed", "severity": "permanent"},
        {"event": "bounce", "type": "bounce"},
    ],
    ids=json.dumps,
)
def test_a_class_that_is_known_as_hard_is(told: dict[str, Any]) -> None:
    assert read(told) == ("bounced", "hard")


def test_c11_a_failure_of_one_attempt_is_a_delay() -> None:
    assert read({"event": "failed", "severity": "temporary"}) == ("delayed", "soft")


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"event": "bounce", "type": "blocked"}, "bounced"),
        ({"event": "delivered", "type": "transactional"}, "delivered"),
        ({"event": {"of": "theirs"}, "type": "delivered"}, "delivered"),
        ({"event": "theirs", "type": "mail.complained"}, "complained"),
    ],
)
def test_a_report_is_of_the_kind_that_is_one_wherever_it_stands(told: dict[str, Any], kind: str) -> None:
    assert read(told)[0] == kind


def test_an_unknown_kind_is_of_no_interest_and_none_at_all_is_no_report() -> None:
    assert receipts_of('{"event": "dreamt", "type": "blocked"}') == []
    with pytest.raises(InvalidInput, match="no type"):
        receipts_of('{"event": 3}')
