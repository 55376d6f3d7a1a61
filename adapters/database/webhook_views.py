"""What decides about deliveries to webhooks, and what these get: both as they are right before the call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_log import EventLog
from adapters.database.event_mapper import EventMapper
from adapters.database.log_queries import StoredRow
from adapters.database.personal import read_by_reference
from adapters.database.webhooks import read_webhook
from automations.notifications.channels import Message
from automations.notifications.decisions import Halt
from automations.notifications.envelopes import envelope, references_of
from automations.notifications.letters import Letter
from domain.deliveries import Delivery, DeliveryPending
from domain.webhooks import Webhook


@dataclass(frozen=True, slots=True)
class WebhookView:
    """What a check sees of deliveries to webhooks: these by their streams, and the events by what names them."""

    connection: sa.Connection
    mapper: EventMapper
    webhooks: Mapping[str, Webhook]
    rows: Mapping[str, StoredRow]


class WebhookViews:
    """Makes views for one sender (a `Views`)."""

    def __init__(self, log: EventLog) -> None:
        self._mapper = log.mapper

    def at_head(self, connection: sa.Connection, asked: Iterable[DeliveryPending]) -> WebhookView:
        """Return what decides about these deliveries now, for as long as the transaction lasts."""
        deliveries = list(asked)
        webhooks = {each: read_webhook(connection, self._mapper, each) for each in {one.to for one in deliveries}}
        rows = {each.notification: _row(connection, each.notification) for each in deliveries}
        return WebhookView(connection, self._mapper, webhooks, rows)


class WebhookWriting:
    """Writes to webhooks (a `Writer`)."""

    def written(self, view: WebhookView, delivery: Delivery, at: datetime) -> Halt | Letter:
        """Return what is sent, or why nothing is; raises CorruptEvent where the event cannot be read."""
        asked, webhook = delivery.asked, view.webhooks[delivery.asked.to]
        if not webhook.stands:
            return Halt("cancelled", "the webhook was removed")
        if at >= asked.expires_at:
            return Halt("expired", "it waited for too long")
        return Letter(_message(view, delivery, webhook, at), is_kept=False)


def _message(view: WebhookView, delivery: Delivery, webhook: Webhook, at: datetime) -> Message:
    asked, row = delivery.asked, view.rows[delivery.asked.notification]
    event = view.mapper.read(row)
    personal = read_by_reference(view.connection, references_of(event))
    return Message(
        delivery=delivery.id,
        to=asked.to,
        channel=asked.channel,
        address=webhook.url,
        type=asked.type,
        subject="",
        text="",
        locale="",
        lane=asked.lane,
        urgent=False,
        requested_at=asked.requested_at,
        expires_at=asked.expires_at,
        at=at,
        body=envelope(asked.type, event, row.position, personal),
    )


def _row(connection: sa.Connection, event_id: str) -> StoredRow:
    stream, _, version = event_id.rpartition("/")
    return log_queries.one(connection, stream, int(version))
