"""Campaigns: one notification for many members, which goes out page by page and can be paused, resumed, cancelled.

Whom it addresses is fixed when it is made. `expanded` is how many pages have become notifications; what becomes
of those is told by their deliveries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from domain.errors import InvalidInput
from domain.events import DomainEvent
from domain.ids import entity, id_of

PAGE = 500
"""Members that are addressed together."""

_PRODUCER = "semel/campaigns/"

State = Literal["running", "paused", "cancelled", "expanded"]


class CampaignEvent(DomainEvent):
    """Something in the life of a campaign."""

    @property
    def campaign(self) -> str:
        """Return the id of the campaign."""
        return id_of(self.stream)


class CampaignStarted(CampaignEvent):
    """Somebody wants so many members to be told; `payload` is the reference of the values for the templates."""

    TOPIC = "campaign.started"

    type: str
    members: int
    payload: str = ""
    by: str


class CampaignAddressed(DomainEvent):
    """A page of members whom it is for, in a stream that holds nothing else; its version is its number."""

    TOPIC = "campaign.addressed"

    members: tuple[str, ...]


class CampaignExpanded(CampaignEvent):
    """A page has become notifications; `page` counts from 1."""

    TOPIC = "campaign.expanded"

    page: int


class CampaignAct(CampaignEvent):
    """Somebody has decided about a campaign."""

    by: str


class CampaignPaused(CampaignAct):
    """Nothing of it goes out for now."""

    TOPIC = "campaign.paused"


class CampaignResumed(CampaignAct):
    """It goes on."""

    TOPIC = "campaign.resumed"


class CampaignCancelled(CampaignAct):
    """Nothing more of it goes out."""

    TOPIC = "campaign.cancelled"


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as its events left it."""

    started: CampaignStarted
    version: int
    expanded: int = 0
    stopped: Literal["", "paused", "cancelled"] = ""

    @property
    def id(self) -> str:
        """Return the id of the campaign."""
        return id_of(self.started.stream)

    @property
    def state(self) -> State:
        """Return whether it goes on."""
        if self.stopped:
            return self.stopped
        return "expanded" if self.expanded == self.pages else "running"

    @property
    def pages(self) -> int:
        """Return how many pages of members it has."""
        return -(-self.started.members // PAGE)

    @property
    def told(self) -> int:
        """Return for how many members it has become notifications."""
        return min(self.expanded * PAGE, self.started.members)

    def after(self, event: DomainEvent) -> Campaign:
        """Return the campaign after one more event."""
        moved = replace(self, version=event.version)
        match event:
            case CampaignExpanded():
                return replace(moved, expanded=event.page)
            case CampaignPaused():
                return replace(moved, stopped="paused")
            case CampaignResumed():
                return replace(moved, stopped="")
            case CampaignCancelled():
                return replace(moved, stopped="cancelled")
        return moved


def campaign_stream(campaign: str) -> str:
    """Return the stream of a campaign."""
    return entity("campaign", campaign)


def members_stream(campaign: str) -> str:
    """Return the stream of the members whom a campaign addresses, page by page."""
    return entity("campaign-members", campaign)


def producer_of(campaign: str) -> str:
    """Return the producer of a campaign's notifications, whose idempotency keys are its members."""
    return f"{_PRODUCER}{campaign}"


def campaign_of(producer: str) -> str:
    """Return the campaign of a producer, empty for any other producer."""
    return producer.removeprefix(_PRODUCER) if producer.startswith(_PRODUCER) else ""


def folded(events: Iterable[DomainEvent]) -> Campaign | None:
    """Return the state that a campaign's events fold to, or None where there are none."""
    campaign: Campaign | None = None
    for event in events:
        if campaign is not None:
            campaign = campaign.after(event)
        elif isinstance(event, CampaignStarted):
            campaign = Campaign(event, event.version)
    return campaign


def started(
    campaign: str, type_name: str, members: Sequence[str], *, has_payload: bool, by: str, at: datetime
) -> list[DomainEvent]:
    """Decide on a campaign that is new; raises InvalidInput where it addresses nobody. A member is told once."""
    addressed = tuple(dict.fromkeys(members))
    if not addressed:
        raise InvalidInput(f"the campaign {campaign!r} addresses nobody")
    stream = campaign_stream(campaign)
    payload = f"{stream}/1/payload" if has_payload else ""
    first = CampaignStarted(
        stream=stream, version=1, at=at, type=type_name, members=len(addressed), payload=payload, by=by
    )
    pages = [addressed[start : start + PAGE] for start in range(0, len(addressed), PAGE)]
    told = [
        CampaignAddressed(stream=members_stream(campaign), version=number, at=at, members=page)
        for number, page in enumerate(pages, start=1)
    ]
    return [first, *told]


def page_expanded(campaign: Campaign, at: datetime) -> CampaignExpanded:
    """Return that the next page has become notifications."""
    return CampaignExpanded(
        stream=campaign.started.stream, version=campaign.version + 1, at=at, page=campaign.expanded + 1
    )


def acted(campaign: Campaign, act: type[CampaignAct], *, by: str, at: datetime) -> CampaignAct | None:
    """Decide on an act, None where it changes nothing; raises InvalidInput where the campaign is past it."""
    if campaign.stopped == "cancelled" and act is not CampaignCancelled:
        raise InvalidInput(f"the campaign {campaign.id!r} was cancelled: start another one for what is left")
    wanted = {CampaignPaused: "paused", CampaignResumed: "", CampaignCancelled: "cancelled"}[act]
    if campaign.stopped == wanted:
        return None
    return act(stream=campaign.started.stream, version=campaign.version + 1, at=at, by=by)
