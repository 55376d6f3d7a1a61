"""A campaign from its start to its end."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain.campaigns import (
    PAGE,
    Campaign,
    CampaignAddressed,
    CampaignCancelled,
    CampaignPaused,
    CampaignResumed,
    acted,
    campaign_of,
    folded,
    page_expanded,
    producer_of,
    started,
)
from domain.errors import InvalidInput

AT = datetime(2026, 5, 12, 10, tzinfo=UTC)


def begun(members: int) -> Campaign:
    names = [f"m{number}" for number in range(members)]
    campaign = folded(started("spring", "news", names, has_payload=True, by="ada", at=AT))
    assert campaign is not None
    return campaign


def test_its_members_are_fixed_page_by_page_and_each_is_told_once() -> None:
    events = started("spring", "news", ["m1", "m2", "m1"] * PAGE, has_payload=False, by="ada", at=AT)
    pages = [event.members for event in events if isinstance(event, CampaignAddressed)]
    assert pages == [("m1", "m2")]


@pytest.mark.parametrize(("members", "pages"), [(1, 1), (PAGE, 1), (PAGE + 1, 2), (50_000, 100)])
def test_it_goes_on_until_its_last_page_is_expanded(members: int, pages: int) -> None:
    campaign = begun(members)
    for number in range(1, pages + 1):
        assert campaign.state == "running"
        event = page_expanded(campaign, AT)
        assert event.page == number
        campaign = campaign.after(event)
    assert campaign.state == "expanded"


def test_nobody_to_address_is_a_mistake() -> None:
    with pytest.raises(InvalidInput, match="addresses nobody"):
        started("spring", "news", [], has_payload=False, by="ada", at=AT)


def test_it_is_paused_and_resumed_and_an_act_that_changes_nothing_is_none() -> None:
    campaign = begun(10)
    paused = acted(campaign, CampaignPaused, by="ada", at=AT)
    assert paused is not None
    campaign = campaign.after(paused)
    assert campaign.state == "paused"
    assert acted(campaign, CampaignPaused, by="bob", at=AT) is None
    resumed = acted(campaign, CampaignResumed, by="ada", at=AT)
    assert resumed is not None
    assert campaign.after(resumed).state == "running"


def test_what_is_cancelled_is_over() -> None:
    campaign = begun(10)
    cancelled = acted(campaign, CampaignCancelled, by="ada", at=AT)
    assert cancelled is not None
    campaign = campaign.after(cancelled)
    assert acted(campaign, CampaignCancelled, by="ada", at=AT) is None
    with pytest.raises(InvalidInput, match="was cancelled"):
        acted(campaign, CampaignResumed, by="ada", at=AT)


def test_its_notifications_name_it() -> None:
    assert campaign_of(producer_of("spring")) == "spring"
    assert campaign_of("semel/executions") == ""
