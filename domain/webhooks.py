"""Webhooks: programs of others that get chosen events, each at a URL, signed with a secret that only they know.

Each is a channel of its own, so that a slow one holds back nobody else. Its secrets lie nowhere in the log, which
says under which reference they are kept apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from domain.civil_time import Instant
from domain.errors import InvalidInput, Mistake
from domain.events import DomainEvent
from domain.ids import entity, id_of

KIND = "webhook"
"""The kind of their streams, which are the names of their channels too: `webhook/books`."""

PRODUCER = "semel/webhooks"
"""The producer of the deliveries to them."""

KEPT_FOR = timedelta(days=30)
"""How long an event waits for a paused webhook, and can be sent anew by staff."""

BOTH_SIGN_FOR = timedelta(hours=24)
"""How long the secret before goes on signing, unless it is said otherwise."""

LONGEST_URL = 2_000
MOST_TOPICS = 100

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_URL = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[^\s@/?#:\[\]]+)(:[1-9][0-9]{0,4})?(/[^\s#]*)?")


class WebhookEvent(DomainEvent):
    """Something in the life of a webhook; `by` is who did it."""

    by: str = ""

    @property
    def webhook(self) -> str:
        """Return the id of the webhook."""
        return id_of(self.stream)


class WebhookAdded(WebhookEvent):
    """A program gets the events of these topics from now on; `secret` is the reference of what signs them."""

    TOPIC = "webhook.added"

    url: str
    topics: tuple[str, ...]
    secret: str


class WebhookChanged(WebhookEvent):
    """It is reached elsewhere, or gets other topics, from now on."""

    TOPIC = "webhook.changed"

    url: str
    topics: tuple[str, ...]


class WebhookRotated(WebhookEvent):
    """There is a new secret; until `former_until` the one before signs too."""

    TOPIC = "webhook.rotated"

    secret: str
    former_until: Instant


class WebhookPaused(WebhookEvent):
    """Nothing is sent for now; what is recorded meanwhile waits. `reason` says why, where Semel itself did it."""

    TOPIC = "webhook.paused"

    reason: str = ""


class WebhookResumed(WebhookEvent):
    """What has waited goes out."""

    TOPIC = "webhook.resumed"


class WebhookTested(WebhookEvent):
    """Somebody wants to see whether events arrive: this one is sent, whatever the topics are."""

    TOPIC = "webhook.tested"


class WebhookReplayed(WebhookEvent):
    """Somebody wants what was recorded in the past to be sent as well, from one instant up to another."""

    TOPIC = "webhook.replayed"

    since: Instant
    up_to: Instant


class WebhookRemoved(WebhookEvent):
    """It gets no more events, and its secrets are forgotten."""

    TOPIC = "webhook.removed"


@dataclass(frozen=True, slots=True)
class Webhook:
    """The state of a webhook; it stands from the version at which it was added until it is removed."""

    stream: str
    version: int = 0
    stands: bool = False
    url: str = ""
    topics: tuple[str, ...] = ()
    secret: str = ""
    former_secret: str = ""
    former_until: datetime | None = None
    added_at: datetime | None = None
    paused_at: datetime | None = None
    pause_reason: str = ""

    @property
    def id(self) -> str:
        """Return the id of the webhook."""
        return id_of(self.stream)

    @property
    def is_sent_to(self) -> bool:
        """Say whether its events go out now."""
        return self.stands and self.paused_at is None

    def wants(self, topic: str) -> bool:
        """Say whether it gets the events of a topic."""
        return self.stands and (topic in self.topics or f"{topic.partition('.')[0]}.*" in self.topics)

    def secrets_at(self, at: datetime) -> tuple[str, ...]:
        """Return the references of the secrets that sign at an instant, the newest first."""
        both = self.former_until is not None and at < self.former_until
        return (self.secret, self.former_secret) if both else (self.secret,)

    def after(self, event: DomainEvent) -> Webhook:
        """Return the state after one more event."""
        now = replace(self, version=event.version)
        match event:
            case WebhookAdded():
                return Webhook(
                    self.stream, event.version, True, event.url, event.topics, event.secret, added_at=event.at
                )
            case WebhookChanged():
                return replace(now, url=event.url, topics=event.topics)
            case WebhookRotated():
                return replace(now, secret=event.secret, former_secret=self.secret, former_until=event.former_until)
            case WebhookPaused():
                return replace(now, paused_at=event.at, pause_reason=event.reason)
            case WebhookResumed():
                return replace(now, paused_at=None, pause_reason="")
            case WebhookRemoved():
                return replace(now, stands=False, secret="", former_secret="")
        return now


def webhook_stream(webhook: str) -> str:
    """Return the stream of a webhook, which is the name of its channel too."""
    return entity(KIND, webhook)


def is_webhook_channel(channel: str) -> bool:
    """Say whether a channel leads to one of the webhooks, and not to people."""
    return channel.startswith(f"{KIND}/")


def webhook_of(stream: str, events: Iterable[DomainEvent]) -> Webhook:
    """Return what the events of a webhook fold to."""
    webhook = Webhook(stream)
    for event in events:
        webhook = webhook.after(event)
    return webhook


def added(before: Webhook, url: str, topics: tuple[str, ...], *, at: datetime, by: str) -> WebhookAdded:
    """Decide to send events to a program; raises InvalidInput for an id that is taken, or cannot be one."""
    if not _ID.fullmatch(before.id):
        raise InvalidInput([Mistake(("id",), "write a-z, 0-9 and dashes, at most 40, a letter or digit first")])
    if before.stands:
        raise InvalidInput([Mistake(("id",), f"there is a webhook {before.id!r} already")])
    secret = f"{before.stream}/{before.version + 1}/secret"
    return WebhookAdded(**_next(before, at, by), url=_checked(url), topics=topics, secret=secret)


def changed(
    before: Webhook, url: str | None, topics: tuple[str, ...] | None, *, at: datetime, by: str
) -> list[WebhookChanged]:
    """Decide on another URL, other topics or both; nothing follows where both are as they were."""
    _require(before)
    new = (before.url if url is None else _checked(url), before.topics if topics is None else topics)
    if new == (before.url, before.topics):
        return []
    return [WebhookChanged(**_next(before, at, by), url=new[0], topics=new[1])]


def rotated(before: Webhook, both_for: timedelta, *, at: datetime, by: str) -> WebhookRotated:
    """Decide on a new secret; the one before signs too for some time."""
    _require(before)
    if not timedelta() <= both_for <= timedelta(days=30):
        raise InvalidInput([Mistake(("both_for",), "both secrets sign for at most 30 days")])
    secret = f"{before.stream}/{before.version + 1}/secret"
    return WebhookRotated(**_next(before, at, by), secret=secret, former_until=at + both_for)


def paused(before: Webhook, *, at: datetime, by: str, reason: str = "") -> list[WebhookPaused]:
    """Decide to send nothing for now; nothing follows where that is so already."""
    _require(before)
    return [] if before.paused_at else [WebhookPaused(**_next(before, at, by), reason=reason)]


def resumed(before: Webhook, *, at: datetime, by: str) -> list[WebhookResumed]:
    """Decide to send what has waited; nothing follows where it is not paused."""
    _require(before)
    return [WebhookResumed(**_next(before, at, by))] if before.paused_at else []


def tested(before: Webhook, *, at: datetime, by: str) -> WebhookTested:
    """Decide to send an event that means nothing; raises InvalidInput where nothing is sent."""
    _require(before)
    if before.paused_at:
        raise InvalidInput(f"the webhook {before.id!r} is paused: resume it first")
    return WebhookTested(**_next(before, at, by))


def replayed(before: Webhook, since: datetime, *, at: datetime, by: str) -> WebhookReplayed:
    """Decide to send what was recorded from an instant up to now as well."""
    _require(before)
    return WebhookReplayed(**_next(before, at, by), since=since, up_to=at)


def removed(before: Webhook, *, at: datetime, by: str) -> WebhookRemoved:
    """Decide to send no more; what waits is cancelled when its turn comes."""
    _require(before)
    return WebhookRemoved(**_next(before, at, by))


def _next(before: Webhook, at: datetime, by: str) -> dict[str, Any]:
    return {"stream": before.stream, "version": before.version + 1, "at": at, "by": by}


def _require(webhook: Webhook) -> None:
    if not webhook.stands:
        raise InvalidInput(f"there is no webhook {webhook.id!r}")


def _checked(url: str) -> str:
    """Return a URL; what it may be beyond that, such as https, is for whoever calls it."""
    if len(url) > LONGEST_URL or not url.isprintable() or not _URL.fullmatch(url):
        raise InvalidInput([Mistake(("url",), "is no URL such as https://example.org/hooks/semel, without a password")])
    return url
