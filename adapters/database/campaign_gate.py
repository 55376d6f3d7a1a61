"""What campaigns have to say about deliveries that are about to go out: those of paused ones wait behind them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from adapters.database.campaigning import read_campaign
from adapters.database.event_mapper import EventMapper
from domain.campaigns import Campaign, campaign_of
from domain.deliveries import Delivery, DeliveryCancelled

Stopped = dict[str, Campaign]
"""The paused and cancelled campaigns that some deliveries belong to, by delivery."""


def stopped_campaigns(connection: sa.Connection, mapper: EventMapper, deliveries: Sequence[Delivery]) -> Stopped:
    """Return the campaigns of these deliveries, which all belong to one, that must not go on now."""
    names = {each.id: campaign_of(each.asked.producer) for each in deliveries}
    known = {name: read_campaign(connection, mapper, name) for name in set(names.values())}
    found = {item: known[name] for item, name in names.items()}
    return {item: campaign for item, campaign in found.items() if campaign is not None and campaign.stopped}


def cancelled(delivery: Delivery, at: datetime) -> DeliveryCancelled:
    """Return that a delivery ends because its campaign was cancelled."""
    return DeliveryCancelled(
        stream=delivery.stream,
        version=delivery.version + 1,
        at=at,
        cause=delivery.asked.cause,
        reason="campaign cancelled",
    )
