"""Facts as a dictionary, and the settings that every action is tested with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from automations.actions import Action, actions
from automations.resolving import SettingUnfit
from domain.money import Money

BERLIN = ZoneInfo("Europe/Berlin")
AT = datetime(2026, 5, 11, 22, 30, tzinfo=BERLIN)


class KnownFacts:
    """A source of facts that are all written down."""

    def __init__(self, facts: Mapping[str, object]) -> None:
        self._facts = facts

    def value(self, path: str) -> object | None:
        return self._facts.get(path)

    def reference(self, path: str) -> str | None:
        return None


BOOKING: dict[str, object] = {
    "entity": "booking/b1",
    "booking.booking_id": "b1",
    "booking.member_id": "m1",
    "booking.starts_at": datetime(2026, 5, 12, 10, tzinfo=BERLIN),
    "booking.ends_at": datetime(2026, 5, 12, 12, tzinfo=BERLIN),
    "booking.price": Money.parse("18.50 EUR"),
    "booking.attendees": 3,
    "member.member_id": "m1",
    "member.name": "Mia",
    "member.locale": "de",
    "resource.door": "d1",
    "resource.name": "Room 1",
    "space.space_id": "mitte",
    "space.locale": "it",
}

SUBSCRIPTION: dict[str, object] = {
    "entity": "subscription/s1",
    "subscription.member_id": "m1",
    "subscription.plan": "silver",
    "subscription.ends_on": date(2026, 12, 31),
    "space.space_id": "mitte",
}

SETTINGS: dict[str, dict[str, Any]] = {
    "notify": {
        "type": "reminder",
        "to": "member/m2",
        "payload": {"name": "{{ member.name }}", "n": [1, True]},
    },
    "issue_invoice": {
        "total": "{{ booking.price }}",
        "due": "1 week",
        "text": "For {{ resource.name }}",
        "member": "member/m2",
    },
    "charge_fee": {"amount": "15 EUR", "reason": "No-show of {{ member.name }}"},
    "grant_access": {
        "door": "{{ resource.door }}",
        "from": "15 minutes before booking.starts_at",
        "until": "booking.ends_at",
        "member": "member/m2",
    },
    "revoke_access": {"door": "{{ resource.door }}", "member": "member/m2"},
    "create_task": {
        "title": "Clean {{ resource.name }}",
        "due": "1 hour after booking.ends_at",
        "assignee": "ana",
    },
    "offer_renewal": {"plan": "gold", "text": "Dear {{ member.name }}"},
    "call_webhook": {
        "url": "https://example.org/{{ booking.booking_id }}",
        "body": {"who": "{{ member.name }}"},
    },
}
"""Every setting of every action, once."""


def action(name: str, **settings: Any) -> Action:
    return actions[name].model_validate({key.rstrip("_"): value for key, value in settings.items()})


def asked(name: str, facts: dict[str, object] | None = None, **settings: Any) -> Any:
    return action(name, **settings).command(KnownFacts({**BOOKING, **(facts or {})}), AT)


def unfit(name: str, facts: dict[str, object] | None = None, **settings: Any) -> str:
    with pytest.raises(SettingUnfit) as caught:
        asked(name, facts, **settings)
    return str(caught.value)
