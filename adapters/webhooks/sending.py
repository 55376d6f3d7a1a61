"""Sends to one webhook: what is due, a few at a time, one after the other in the order in which it was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import uuid4

import sqlalchemy as sa
from pydantic import SecretStr

from adapters.channels.wire.http_lines import HttpLine
from adapters.database.deliveries import StoredDeliveries
from adapters.database.delivery_queue import queue_of
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.lanes import StoredLanes
from adapters.database.lanes import lane as stored_lane
from adapters.database.personal import read_by_reference
from adapters.database.queue import Lease, lease
from adapters.database.unit_of_work import unit_of_work
from adapters.database.webhook_pausing import WebhookAnswers
from adapters.database.webhook_views import WebhookView, WebhookViews, WebhookWriting
from adapters.database.webhooks import read_webhook
from adapters.settings import WebhookSettings
from adapters.webhooks.calls import WebhookCalls
from automations.lanes import Lane
from automations.notifications.channel_lanes import WatchedChannel
from automations.notifications.dispatcher import Dispatcher
from automations.ports import Clock
from automations.retries import Jitter
from domain.lanes import channel_lane
from domain.webhooks import Webhook

LEASED_AT_ONCE = 4
"""Events that are taken from the queue at a time: so many calls are made at most before a pause is heeded."""


class WebhookSender:
    """Sends to the webhook of one channel, for one process; used by one thread at a time."""

    def __init__(
        self, log: EventLog, clock: Clock, channel: str, line: HttpLine, jitter: Jitter, settings: WebhookSettings
    ) -> None:
        self._log = log
        self._clock = clock
        self._channel = channel
        self._line = line
        self._jitter = jitter
        self._settings = settings
        self._owner = uuid4().hex
        self._queue = queue_of(channel, "transactional")
        self._lanes = StoredLanes(log)
        self._journal = StoredDeliveries[WebhookView](log, WebhookViews(log), WebhookAnswers(log))

    def work_once(self) -> bool:
        """Send a few of what is due; say whether there was anything to do."""
        now = self._clock.now()
        with reading(self._log.engine) as connection:
            webhook = read_webhook(connection, self._log.mapper, self._channel)
            lane = stored_lane(connection, channel_lane(self._channel))
            secrets = _secrets(connection, webhook, now)
        limit = self._limit(webhook, lane, now)
        if not limit:
            return False
        with unit_of_work(self._log, "lease") as work:
            leases = lease(work.connection, self._queue, self._owner, limit, now)
        self._send(leases, secrets)
        return bool(leases)

    def _limit(self, webhook: Webhook, lane: Lane, now: datetime) -> int:
        """Return how many events to take now: of a held lane one, and none while the webhook is paused."""
        if not webhook.stands:
            return LEASED_AT_ONCE  # what waits is to be cancelled
        if not webhook.is_sent_to or not lane.permits(now):
            return 0
        if lane.is_held:
            return 1 if self._lanes.take_probe(lane, now) else 0
        return LEASED_AT_ONCE

    def _send(self, leases: Sequence[Lease], secrets: Sequence[SecretStr]) -> None:
        calls = WebhookCalls(self._line, secrets, self._settings.allow_private)
        watched = WatchedChannel(self._channel, calls, self._lanes, self._clock)
        watched.look()
        dispatcher = Dispatcher(
            self._journal, {self._channel: watched}, WebhookWriting(), self._clock, jitter=self._jitter
        )
        try:
            held = {delivery.id: delivery for delivery in self._journal.hold(leases)}
            dispatcher.recover([held[each.item] for each in leases if each.item in held])
        finally:
            self._journal.forget()

    def beat(self) -> None:
        """Show that this sender is alive and still at all that it holds; safe to call from another thread."""
        self._journal.beat()

    def let_go(self) -> None:
        """Give back at once all that this sender holds, for others to take up; safe to call from another thread."""
        self._journal.let_go()


def _secrets(connection: sa.Connection, webhook: Webhook, at: datetime) -> list[SecretStr]:
    references = webhook.secrets_at(at) if webhook.stands else ()
    found = read_by_reference(connection, references) if references else {}
    return [SecretStr(str(found[each])) for each in references if each in found]
