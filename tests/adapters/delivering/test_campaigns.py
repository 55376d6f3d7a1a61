"""One notification for many, page by page."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from adapters.database import campaigning
from adapters.database.campaigning import Campaigns
from automations.notifications.pace import Rate
from automations.notifications.types import NotificationType, Types
from domain import campaigns
from domain.campaigns import CampaignCancelled, CampaignPaused, CampaignResumed
from domain.errors import InvalidInput
from tests.adapters.delivering.office import Office

MEMBERS = [f"n{number:03d}" for number in range(25)]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaigns, "PAGE", 10)
    monkeypatch.setattr(campaigning, "PAGE", 10)


@pytest.fixture
def desk(office: Office) -> Campaigns:
    for member in MEMBERS:
        office.tell("member.registered", member_id=member, name=member, email=f"{member}@example.org")
    office.types = Types({"news": NotificationType(lane="bulk")})
    office.use_templates({"news/email.en": "Subject: News\n{{ payload.text }}"})
    return Campaigns(office.app.log, office.clock)


def start(desk: Campaigns, text: str = "Summer party") -> campaigns.Campaign:
    return desk.start("summer", "news", MEMBERS, {"text": text}, "ada")


def reached(office: Office) -> Counter[str]:
    return Counter(message.to for message in office.email.sent)


def test_everybody_is_told_once_also_when_it_is_started_twice(office: Office, desk: Campaigns) -> None:
    start(desk)
    start(desk)
    office.settle()
    assert reached(office) == dict.fromkeys((f"member/{member}" for member in MEMBERS), 1)
    assert {message.text for message in office.email.sent} == {"Summer party"}


def test_the_same_name_for_another_campaign_is_refused(office: Office, desk: Campaigns) -> None:
    start(desk)
    with pytest.raises(InvalidInput, match="is there already"):
        start(desk, "Winter party")


def test_a_page_waits_until_the_one_before_is_on_its_way(office: Office, desk: Campaigns) -> None:
    office.limit("email", Rate(1))
    start(desk)
    office.settle()
    expanded = office.events("campaign.expanded")
    assert len(expanded) == 2
    office.deliver_for(timedelta(minutes=1))
    assert len(reached(office)) == 25


def test_what_is_paused_waits_and_goes_on(office: Office, desk: Campaigns) -> None:
    office.limit("email", Rate(1))
    start(desk)
    office.settle()
    assert desk.act("summer", CampaignPaused, "ada")
    office.deliver_for(timedelta(minutes=5))
    assert len(office.email.sent) == 1
    assert desk.act("summer", CampaignResumed, "ada")
    office.deliver_for(timedelta(minutes=1))
    assert reached(office) == dict.fromkeys((f"member/{member}" for member in MEMBERS), 1)


def test_what_is_cancelled_goes_to_nobody_else(office: Office, desk: Campaigns) -> None:
    office.limit("email", Rate(1))
    start(desk)
    office.settle()
    desk.act("summer", CampaignPaused, "ada")
    office.deliver_for(timedelta(seconds=30))
    desk.act("summer", CampaignCancelled, "ada")
    office.deliver_for(timedelta(minutes=5))
    rows = Counter((row["status"], row["reason"]) for row in office.rows(channel="email"))
    assert rows[("sent", "")] == len(office.email.sent) == 1
    assert set(rows) == {("sent", ""), ("cancelled", "campaign cancelled")}


def test_an_act_on_no_campaign_names_the_remedy(desk: Campaigns) -> None:
    with pytest.raises(InvalidInput, match="semel campaign list"):
        desk.act("winter", CampaignPaused, "ada")
