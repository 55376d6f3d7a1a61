"""A receiver that is gone, or has taken nothing for days, is left alone: its webhook is paused, and staff are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from adapters.database.event_log import EventLog
from adapters.database.notices import tell_staff
from adapters.database.unit_of_work import UnitOfWork
from adapters.database.webhooks import read_webhook
from automations.notifications.dispatcher import Change
from domain.deliveries import Delivery, DeliveryFailed
from domain.notices import Notice
from domain.webhooks import Webhook, WebhookPaused, paused
from projections.deliveries import deliveries

PAUSED = "semel.webhook-paused"
"""The notice that a webhook is paused, which only staff resume."""

BY = "semel"
"""Who pauses, where nobody asked for it."""


class WebhookAnswers:
    """Heeds how calls of webhooks end (an `Answers`), in the transaction that records it."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def heed(self, work: UnitOfWork, changes: Sequence[Change], after: Mapping[str, Delivery]) -> None:
        """Pause the webhook where one of its deliveries says that nothing arrives; all are to the same one."""
        for change in changes:
            last = change.steps[-1]
            if isinstance(last, DeliveryFailed) and (reason := _why_to_pause(work, last, after[change.before.id])):
                webhook = read_webhook(work.connection, self._log.mapper, change.before.asked.to)
                self._pause(work, webhook, reason, last)
                return

    def _pause(self, work: UnitOfWork, webhook: Webhook, reason: str, failed: DeliveryFailed) -> None:
        if not webhook.stands:
            return
        events = paused(webhook, at=failed.at, by=BY, reason=reason)
        for event in events:
            tell_staff(work, _notice(event), failed.at)
        work.append(events)


def _why_to_pause(work: UnitOfWork, failed: DeliveryFailed, delivery: Delivery) -> str:
    if failed.error_class == "gone":
        return "the receiver answered 410: it wants nothing any more"
    since = delivery.first_attempt_at
    if failed.error_class != "gave_up" or since is None:
        return ""
    taken = sa.select(deliveries.c.delivery).where(
        deliveries.c.channel == delivery.asked.channel, deliveries.c.status == "sent", deliveries.c.sent_at >= since
    )
    if work.connection.scalar(taken.limit(1)) is not None:
        return ""
    return f"nothing arrived since {since:%Y-%m-%d %H:%M} UTC: {failed.reason}"


def _notice(event: WebhookPaused) -> Notice:
    return Notice(PAUSED, f"{event.stream}/{event.version}", {"webhook": event.webhook, "reason": event.reason})
