"""Scenarios as plain data, and what is made of them."""

from __future__ import annotations

from typing import Any

import pytest

from automations.authoring import AuthoredRule
from automations.scenario import Scenario
from automations.scenarios.reading import read_scenario
from domain.errors import InvalidInput

REMIND = {"id": "remind", "when": "booking.starting", "before": "24 hours", "do": [{"create_task": {"title": "Go"}}]}
FEE = {"id": "fee", "when": "booking.no_show", "do": [{"charge_fee": {"amount": "15 EUR", "reason": "no show"}}]}
BOOKING = {
    "booking_id": "b1",
    "member_id": "m1",
    "resource_id": "r1",
    "starts_at": "2026-05-12 10:00",
    "ends_at": "2026-05-12 12:00",
}


def form(**changes: Any) -> dict[str, Any]:
    """Return the plain data of a scenario, with changes; None takes a setting out."""
    data: dict[str, Any] = {
        "scenario": "something happens",
        "zone": "Europe/Berlin",
        "from": "2026-05-10 00:00",
        "to": "2026-05-20 12:00",
        "tick": "5 minutes",
        "rules": [REMIND, FEE],
        "expect": {"runs": []},
    }
    return {name: value for name, value in (data | changes).items() if value is not None}


def no_file(name: str) -> tuple[AuthoredRule, ...]:
    """Find no file of rules."""
    raise InvalidInput(f"{name}: there is no such file")


def read(**changes: Any) -> Scenario:
    """Read a scenario with changes."""
    return read_scenario(form(**changes), no_file)


def mistakes(**changes: Any) -> list[tuple[str, str]]:
    """Return the place and the message of each mistake."""
    with pytest.raises(InvalidInput) as caught:
        read(**changes)
    return [(".".join(map(str, each.path)), each.message) for each in caught.value.mistakes]
