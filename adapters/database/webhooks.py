"""Webhooks over the log: as they were at a position, as they are now, and what operators do about them."""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

import sqlalchemy as sa

from adapters.database import lanes, log_queries
from adapters.database.delivery_queue import queue_of
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.event_mapper import EventMapper
from adapters.database.lanes import StoredLanes
from adapters.database.log_queries import StoredRow
from adapters.database.personal import PersonalRow, personal, write
from adapters.database.queue import hasten
from adapters.database.queue_dues import items_of
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from automations.ports import Clock
from automations.webhook_topics import checked_topics, outside_stream
from domain import webhooks as decide
from domain.endings import Done
from domain.errors import CorruptEvent, InvalidInput, Mistake
from domain.events import DomainEvent
from domain.ids import id_of
from domain.lanes import channel_lane
from domain.webhooks import BOTH_SIGN_FOR, KIND, Webhook, WebhookEvent, webhook_of, webhook_stream

SECRET_BYTES = 32
"""How many random bytes a secret has."""

E = TypeVar("E", bound=WebhookEvent)


class NewSecret(NamedTuple):
    """A webhook with its new secret, which is shown this once."""

    webhook: Webhook
    secret: str


class StoredWebhooks:
    """All webhooks, moved along the log; not shared between threads."""

    def __init__(self, mapper: EventMapper) -> None:
        self._mapper = mapper
        self._known: dict[str, Webhook] = {}
        self.position = 0

    def move_to(self, connection: sa.Connection, position: int) -> list[Webhook]:
        """Return the webhooks that stand at a position, by their ids; earlier than before, they are read anew."""
        if position < self.position:
            self._known, self.position = {}, 0
        if position > self.position:
            for row in log_queries.of_kind(connection, KIND, self.position, position):
                self.take_over(row)
        self.position = position
        return self.standing

    def take_over(self, row: StoredRow) -> DomainEvent | None:
        """Take over one event of a webhook, and return it; one that cannot be read stops its webhook alone."""
        self.position = row.position
        try:
            event = self._mapper.read(row)
        except CorruptEvent:  # whoever evaluates the log sets it aside, with a dossier
            self._known[row.stream] = Webhook(row.stream)
            return None
        self._known[row.stream] = self._known.get(row.stream, Webhook(row.stream)).after(event)
        return event

    @property
    def standing(self) -> list[Webhook]:
        """Return the webhooks that stand, by their ids."""
        return [self._known[stream] for stream in sorted(self._known) if self._known[stream].stands]


class WebhookDesk:
    """Where operators add, change and remove webhooks; serves any thread.

    `allow_http` is for receivers inside one's own network. Raises InvalidInput for what there is not, or cannot be.
    """

    def __init__(self, log: EventLog, clock: Clock, *, allow_http: bool = False) -> None:
        self._log = log
        self._clock = clock
        self._allow_http = allow_http

    def all(self) -> list[Webhook]:
        """Return the webhooks that stand, by their ids."""
        with reading(self._log.engine) as connection:
            return webhooks_now(connection, self._log.mapper)

    def get(self, webhook: str) -> Webhook | None:
        """Return a webhook, or None where there is none."""
        with reading(self._log.engine) as connection:
            found = read_webhook(connection, self._log.mapper, webhook_stream(webhook))
        return found if found.stands else None

    def add(self, webhook: str, url: str, topics: Iterable[str], by: str) -> NewSecret:
        """Send a program the events of some topics, from now on."""

        def decision(work: UnitOfWork, before: Webhook, at: datetime) -> decide.WebhookAdded:
            checked = self._checked(work, list(topics))
            return decide.added(before, self._safe(url), checked, at=at, by=by)

        return self._with_secret(webhook, decision)

    def change(self, webhook: str, by: str, *, url: str | None = None, topics: Sequence[str] | None = None) -> Webhook:
        """Send events elsewhere, or those of other topics, from now on."""

        def decision(work: UnitOfWork, before: Webhook, at: datetime) -> list[decide.WebhookChanged]:
            checked = None if topics is None else self._checked(work, topics, before.topics)
            safe = None if url is None else self._safe(url)
            return decide.changed(before, safe, checked, at=at, by=by)

        return self._change(webhook, decision)

    def rotate(self, webhook: str, by: str, both_for: timedelta = BOTH_SIGN_FOR) -> NewSecret:
        """Make a new secret; the one before signs too for some time, and the one before that is forgotten."""

        def decision(work: UnitOfWork, before: Webhook, at: datetime) -> decide.WebhookRotated:
            event = decide.rotated(before, both_for, at=at, by=by)
            _forget(work, before.former_secret)
            return event

        return self._with_secret(webhook, decision)

    def pause(self, webhook: str, by: str) -> Webhook:
        """Send nothing for now; what is recorded meanwhile waits."""
        return self._change(webhook, lambda work, before, at: decide.paused(before, at=at, by=by))

    def resume(self, webhook: str, by: str) -> Webhook:
        """Send what has waited, at once, and go on."""

        def decision(work: UnitOfWork, before: Webhook, at: datetime) -> list[decide.WebhookResumed]:
            events = decide.resumed(before, at=at, by=by)
            lanes.probe_now(work.connection, channel_lane(before.stream), at)
            in_line = queue_of(before.stream, "transactional")
            hasten(work.connection, in_line, items_of(work.connection, in_line))
            return events

        return self._change(webhook, decision)

    def test(self, webhook: str, by: str) -> Webhook:
        """Send an event that means nothing."""
        return self._change(webhook, lambda work, before, at: [decide.tested(before, at=at, by=by)])

    def replay(self, webhook: str, since: datetime, by: str) -> decide.WebhookReplayed:
        """Note that what was recorded from an instant up to now is to be sent as well; return the event."""
        noted: list[decide.WebhookReplayed] = []

        def decision(work: UnitOfWork, before: Webhook, at: datetime) -> list[decide.WebhookReplayed]:
            noted[:] = [decide.replayed(before, since, at=at, by=by)]
            return noted

        self._change(webhook, decision)
        return noted[0]

    def remove(self, webhook: str, by: str) -> None:
        """Send no more, and forget the secrets."""

        def decision(work: UnitOfWork, before: Webhook, at: datetime) -> list[decide.WebhookRemoved]:
            event = decide.removed(before, at=at, by=by)
            _forget(work, before.secret, before.former_secret)
            return [event]

        self._change(webhook, decision)
        # Nobody will call it again, so that nothing else would end what is known against calling it.
        stored = StoredLanes(self._log)
        stored.report(stored.look(channel_lane(webhook_stream(webhook))), Done(), self._clock.now())

    def _with_secret(
        self,
        webhook: str,
        decision: Callable[[UnitOfWork, Webhook, datetime], decide.WebhookAdded | decide.WebhookRotated],
    ) -> NewSecret:
        secret = f"whsec_{base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()}"

        def kept(work: UnitOfWork, before: Webhook, at: datetime) -> list[WebhookEvent]:
            event = decision(work, before, at)
            write(work.connection, [PersonalRow("", event.secret, secret)])
            return [event]

        return NewSecret(self._change(webhook, kept), secret)

    def _change(self, webhook: str, decision: Callable[[UnitOfWork, Webhook, datetime], Sequence[E]]) -> Webhook:
        def attempt() -> Webhook:
            with unit_of_work(self._log, "webhooks") as work:
                before = read_webhook(work.connection, self._log.mapper, webhook_stream(webhook))
                events = decision(work, before, self._clock.now())
                work.append(events)
            return webhook_after(before, events)

        return retrying(attempt, sleep=time.sleep)

    def _checked(self, work: UnitOfWork, topics: Sequence[str], known: Sequence[str] = ()) -> tuple[str, ...]:
        outside = log_queries.existing_streams(
            work.connection, [outside_stream(topic) for topic in topics if topic.isprintable()]
        )
        return checked_topics(topics, {*known, *map(id_of, outside)})

    def _safe(self, url: str) -> str:
        if not self._allow_http and not url.startswith("https://"):
            raise InvalidInput([Mistake(("url",), "begins with https://, so that nobody on the way can read along")])
        return url


def webhook_after(webhook: Webhook, events: Iterable[DomainEvent]) -> Webhook:
    """Return a webhook after some more events."""
    for event in events:
        webhook = webhook.after(event)
    return webhook


def webhooks_now(connection: sa.Connection, mapper: EventMapper) -> list[Webhook]:
    """Return the webhooks that stand, by their ids."""
    return StoredWebhooks(mapper).move_to(connection, log_queries.head_position(connection))


def read_webhook(connection: sa.Connection, mapper: EventMapper, stream: str) -> Webhook:
    """Return a webhook by its stream; one that there never was does not stand."""
    return webhook_of(stream, map(mapper.read, log_queries.streams(connection, [stream])))


def _forget(work: UnitOfWork, *references: str) -> None:
    wanted = [each for each in references if each]
    work.connection.execute(sa.delete(personal).where(personal.c.ref.in_(wanted)))
