"""What an application offers for webhooks: the desk of operators, and what sends in a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.channels.wire.http_lines import HttpLine
from adapters.database.webhooks import WebhookDesk
from adapters.settings import WebhookSettings
from adapters.webhooks.events_out import EventsOut
from automations.retries import Jitter

if TYPE_CHECKING:
    from adapters.application import Application

CONNECTIONS = 8
"""Connections to one receiver at most, or to all that come after the first few dozen together."""


def webhook_desk(application: Application) -> WebhookDesk:
    """Return where webhooks are added, changed and removed."""
    allow_http = application.settings.webhooks.allow_private
    return WebhookDesk(application.log, application.clock, allow_http=allow_http)


def line_to_webhooks(settings: WebhookSettings) -> HttpLine:
    """Return what all webhooks are called with; nothing is opened before the first call."""
    return HttpLine(
        settings.timeout_seconds,
        connections=CONNECTIONS,
        checks_addresses=True,
        allow_private=settings.allow_private,
    )


def events_out(application: Application, line: HttpLine, jitter: Jitter) -> EventsOut:
    """Return what makes events go out in one process."""
    settings = application.settings
    return EventsOut(application.log, application.clock, line, jitter, settings.webhooks, settings.lease_seconds)
