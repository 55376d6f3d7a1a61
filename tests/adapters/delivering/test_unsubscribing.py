"""Who follows the way out of a bulk mail gets no more of that type on that channel, and everything else."""

from __future__ import annotations

import pytest

from adapters.aftercare import leaving, unsubscribe
from automations.notifications.types import NotificationType, Types
from automations.notifications.unsubscribing import way_out_of
from domain.errors import InvalidInput
from tests.adapters.delivering.office import Office


@pytest.fixture
def token(office: Office) -> str:
    """The token of a mail that went out in bulk."""
    office.types = Types({"news": NotificationType(lane="bulk")})
    office.way_out = way_out_of("https://semel.example.org", office.app.salt)
    office.start_anew()
    office.request("k/1")
    office.settle()
    return office.email.sent[0].unsubscribe_url.removeprefix("https://semel.example.org/unsubscribe/")


def test_a_post_ends_the_type_on_the_channel_and_nothing_else(office: Office, token: str) -> None:
    assert unsubscribe(office.app, token).member == "m1"
    office.request("k/2")
    office.request("k/3", type="door-code")
    office.settle()
    rows = {row["type"]: row for row in office.rows() if row["status"] != "sent" or row["type"] != "news"}
    assert (rows["news"]["status"], rows["news"]["reason"]) == ("skipped", "unsubscribed")
    assert rows["door-code"]["status"] == "sent"
    assert office.email.sent[-1].unsubscribe_url == ""


def test_again_and_again_changes_nothing(office: Office, token: str) -> None:
    for _ in range(3):
        unsubscribe(office.app, token)
    assert len(office.events("preference.set")) == 1


def test_looking_at_the_page_is_no_wish(office: Office, token: str) -> None:
    assert leaving(office.app, token).subject == ("news", "email")
    assert office.events("preference.") == []


def test_a_link_that_nobody_made_says_nothing_and_does_nothing(office: Office, token: str) -> None:
    for wrong in (token[:-4], token[::-1], "m1"):
        with pytest.raises(InvalidInput, match="none of ours"):
            unsubscribe(office.app, wrong)
    assert office.events("preference.") == []
