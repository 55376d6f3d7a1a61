"""What is told about webhooks, to people and to programs; never a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.webhooks.opening import webhook_desk
from automations.staff_acts import Acted, Order
from domain.webhooks import Webhook, WebhookEvent, webhook_stream
from projections.deliveries import deliveries, listed

if TYPE_CHECKING:
    from adapters.application import Application


def pages_of_webhooks(application: Application) -> list[dict[str, Any]]:
    """Return every webhook, by its id, with how many of its deliveries stand how."""
    return [_page(application, each) for each in webhook_desk(application).all()]


def page_of_webhook(application: Application, webhook: str) -> dict[str, Any] | None:
    """Return one webhook, or None where there is none."""
    found = webhook_desk(application).get(webhook)
    return None if found is None else _page(application, found)


def life_of(application: Application, webhook: str) -> list[dict[str, Any]]:
    """Return what happened to a webhook, also before it was removed: when, what, and by whom."""
    with reading(application.engine) as connection:
        rows = log_queries.streams(connection, [webhook_stream(webhook)])
        events = [application.log.mapper.read(row) for row in rows]
    return [_happening(event) for event in events if isinstance(event, WebhookEvent)]


def retry_failed(application: Application, webhook: str, by: str) -> list[Acted]:
    """Send anew all that failed on its way to a webhook; say of each whether that could be."""
    with reading(application.engine) as connection:
        rows = listed(connection, channel=webhook_stream(webhook), status=["failed", "unknown"])
    return application.run_acts().act(Order("retry", by), [row["delivery"] for row in rows])


def _page(application: Application, webhook: Webhook) -> dict[str, Any]:
    of_channel = deliveries.c.channel == webhook.stream
    counts = sa.select(deliveries.c.status, sa.func.count()).where(of_channel).group_by(deliveries.c.status)
    with reading(application.engine) as connection:
        counted = {status: count for status, count in connection.execute(counts)}  # noqa: C416 - a row is no pair
        last = connection.scalar(sa.select(sa.func.max(deliveries.c.sent_at)).where(of_channel))
    rotating = webhook.former_until if len(webhook.secrets_at(application.clock.now())) > 1 else None
    return {
        "webhook": webhook.id,
        "status": "paused" if webhook.paused_at else "enabled",
        "reason": webhook.pause_reason,
        "url": webhook.url,
        "topics": list(webhook.topics),
        "added_at": webhook.added_at,
        "paused_at": webhook.paused_at,
        "former_secret_until": rotating,
        "last_sent_at": last,
        "deliveries": counted,
    }


def _happening(event: WebhookEvent) -> dict[str, Any]:
    return {"at": event.at, "what": event.topic.removeprefix("webhook."), "by": event.by}
