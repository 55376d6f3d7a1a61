"""The follower for webhooks: each event of a topic that one wants becomes one delivery to it.

The stream of a delivery follows from the webhook and the event, so that the database refuses a second one, whoever
reads a page again. Most pages concern nobody: those are passed over without a commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.delivery_queue import queue_of
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.event_mapper import EventMapper
from adapters.database.follower import BATCH
from adapters.database.log_queries import StoredRow
from adapters.database.queue import Waiting, enqueue
from adapters.database.unit_of_work import UnitOfWork, unit_of_work
from adapters.database.webhooks import StoredWebhooks
from automations.ports import Clock
from automations.webhook_topics import offered, topic_of
from domain.deliveries import DeliveryPending, delivery_stream
from domain.errors import CorruptEvent
from domain.ids import id_of, kind_of
from domain.outside import OutsideEvent
from domain.webhooks import KEPT_FOR, KIND, PRODUCER, Webhook, WebhookReplayed, WebhookTested, is_webhook_channel

FOLLOWER = "webhooks"

PASSED_OVER = 5_000
"""Events that concern no webhook, after which the position is noted nevertheless."""


class Told(NamedTuple):
    """An event that a webhook is to get."""

    webhook: Webhook
    topic: str
    row: StoredRow


class Replay(NamedTuple):
    """A webhook that is to hear of the past as well, as was noted at a position; done up to `after`."""

    webhook: Webhook
    event: WebhookReplayed
    noted_at: int
    after: int = 0


class WebhookFollower:
    """Makes deliveries to webhooks, for one process; several may work side by side.

    It looks at one page at a time, also of the past, so that a long one holds up nothing else. The position is moved
    beyond a wish to hear of the past only once that is fulfilled.
    """

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._webhooks = StoredWebhooks(log.mapper)
        self._offered = offered() | {OutsideEvent.TOPIC}
        self._seen = 0
        self._replay: Replay | None = None
        self._replayed = 0

    def is_behind(self, connection: sa.Connection) -> bool:
        """Say whether there is anything that this one has not looked at."""
        return self._replay is not None or log_queries.head_position(connection) > self._seen

    def follow(self) -> bool:
        """Look at one page; say whether there was any. Raises Conflict where another process was faster."""
        if self._replay is not None and self._went_on_replaying(self._replay):
            return True
        with reading(self._log.engine) as connection:
            stored = log_queries.tracked_position(connection, FOLLOWER)
            position = self._first(connection, max(stored, self._seen))
            rows = log_queries.events_after(connection, position, BATCH)
            if not rows:
                self._seen = position
                return False
            told, self._replay = self._told(rows)
            told = _without_echoes(connection, self._log.mapper, told)
        if self._replay is not None:
            return True
        last = rows[-1].position
        if told or last - stored >= PASSED_OVER:
            with unit_of_work(self._log, "tell webhooks") as work:
                work.track(FOLLOWER, last, after=stored)
                _deliver(work, told, self._clock.now())
        self._seen = last
        return True

    def _went_on_replaying(self, replay: Replay) -> bool:
        """Make deliveries of one more page of the past; say whether there was any. Begins anew where it broke off."""
        self._replay = None
        rows = self._replay_page(replay)
        if rows:
            self._replay = replay._replace(after=rows[-1].position)
        else:
            self._replayed = replay.noted_at
        return bool(rows)

    def _first(self, connection: sa.Connection, position: int) -> int:
        """Return from where on there may be something to do: without any webhook, from where one is added."""
        if self._webhooks.move_to(connection, position):
            return position
        head = log_queries.head_position(connection)
        changes = log_queries.of_kind(connection, KIND, position, head) if head > position else []
        return changes[0].position - 1 if changes else head

    def _told(self, rows: Sequence[StoredRow]) -> tuple[list[Told], Replay | None]:
        """Return what webhooks are told of a page, and the first wish to hear of the past that is not fulfilled yet."""
        told: list[Told] = []
        for row in rows:
            if kind_of(row.stream) != KIND:
                told += self._wanted(row, self._webhooks.standing)
                continue
            event = self._webhooks.take_over(row)
            webhook = next((each for each in self._webhooks.standing if each.stream == row.stream), None)
            if webhook is not None and isinstance(event, WebhookTested):
                told.append(Told(webhook, event.topic, row))
            elif webhook is not None and isinstance(event, WebhookReplayed) and row.position > self._replayed:
                return told, Replay(webhook, event, row.position)
        return told, None

    def _wanted(self, row: StoredRow, webhooks: Iterable[Webhook]) -> Iterator[Told]:
        if row.topic not in self._offered:
            return
        topic = topic_of(row.topic, row.stream)
        for webhook in webhooks:
            if webhook.wants(topic):
                yield Told(webhook, topic, row)

    def _replay_page(self, replay: Replay) -> Sequence[StoredRow]:
        """Make deliveries of a page of the past, and return the page; done again, it makes no second one."""
        with reading(self._log.engine) as connection:
            rows = log_queries.events_after(connection, replay.after, BATCH, replay.noted_at)
            wanted = [each for row in rows for each in self._wanted(row, [replay.webhook])]
            told = [each for each in wanted if self._is_within(each.row, replay.event)]
            told = _without_echoes(connection, self._log.mapper, told)
        if told:
            with unit_of_work(self._log, "replay to webhooks") as work:
                _deliver(work, told, self._clock.now())
        return rows

    def _is_within(self, row: StoredRow, replayed: WebhookReplayed) -> bool:
        try:
            return replayed.since <= self._log.mapper.read(row).at <= replayed.up_to
        except CorruptEvent:
            return False


def _deliver(work: UnitOfWork, told: Sequence[Told], at: datetime) -> None:
    """Begin the deliveries that have not begun yet, each with its place in the queue of its webhook."""
    pending = {each.stream: (each, position) for each, position in (_pending(one, at) for one in told)}
    known = log_queries.existing_streams(work.connection, pending)
    fresh = [each for stream, each in pending.items() if stream not in known]
    rows = [Waiting(queue_of(each.channel, each.lane), id_of(each.stream), rank=place) for each, place in fresh]
    enqueue(work.connection, rows)
    work.append(each for each, _ in fresh)


def _pending(told: Told, at: datetime) -> tuple[DeliveryPending, int]:
    webhook, topic, row = told
    event_id = f"{row.stream}/{row.version}"
    pending = DeliveryPending(
        stream=delivery_stream(event_id, webhook.stream, webhook.stream),
        version=1,
        at=at,
        notification=event_id,
        producer=PRODUCER,
        type=topic,
        to=webhook.stream,
        channel=webhook.stream,
        address=webhook.stream,
        entity=row.stream,
        requested_at=at,
        expires_at=at + KEPT_FOR,
    )
    return pending, row.position


def _without_echoes(connection: sa.Connection, mapper: EventMapper, told: Sequence[Told]) -> list[Told]:
    """Leave out what is about deliveries to webhooks: telling them would make more of it, without an end."""
    streams = {each.row.stream for each in told if kind_of(each.row.stream) == "delivery"}
    ours = set()
    for row in log_queries.streams(connection, streams) if streams else ():
        if row.version == 1:
            begun = mapper.read(row)
            if isinstance(begun, DeliveryPending) and is_webhook_channel(begun.channel):
                ours.add(row.stream)
    return [each for each in told if each.row.stream not in ours]
