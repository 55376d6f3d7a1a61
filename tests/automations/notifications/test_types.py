"""What can be settled for a type, and what cannot."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from automations.notifications.types import NotificationType


def test_all_of_its_channels_are_ways_of_their_own_and_of_several_the_first_is_one() -> None:
    assert NotificationType().ways == (("email",),)
    assert NotificationType(channels=("email", "sms", "email")).ways == (("email",), ("sms",))
    assert NotificationType(first_of=("web_push", "sms")).ways == (("web_push", "sms"),)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"channels": ["email"], "first_of": ["sms"]}, "first_of stands beside channels"),
        ({"useful_for": "1 hour", "useful_until": "booking.starts_at"}, "useful_until stands beside useful_for"),
        ({"opt_in": True, "mandatory": True}, "opt_in stands beside mandatory"),
        ({"first_of": []}, "at least 1"),
        ({"useful_until": "booking.start"}, "no fact is called"),
        ({"useful_until": "booking.attendees"}, "booking.attendees is a number"),
    ],
)
def test_what_contradicts_itself_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        NotificationType.model_validate(settings)
