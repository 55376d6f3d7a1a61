"""What providers have reported: each report once, kept before it is answered, and acted upon afterwards.

A row holds nothing personal. The report itself, which names addresses, lies among the personal values: with nobody
at first, and with the member whose message it is about as soon as that is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from adapters.database.personal import PersonalRow, personal, write
from adapters.database.queue import Waiting, enqueue, hasten
from adapters.database.schema import metadata
from domain.deliveries import Delivery
from domain.ids import LONGEST_ID, digest
from projections.columns import Instant, Key

QUEUE = "callbacks"
"""The queue of reports that are to be acted upon."""

LOOKED_UP = "look-up"
"""The provider, as it is written down, of what Semel has asked for by itself."""

State = Literal["new", "unmatched", "done", "failed"]
"""Whether a report was acted upon; one about a message that is not known to be sent yet is unmatched."""

KEPT_UNMATCHED = timedelta(days=30)
"""How long the text of a report is kept of which nobody knows whom it is about."""

callbacks = sa.Table(
    "callbacks",
    metadata,
    sa.Column("provider", Key, primary_key=True),
    sa.Column("event_id", Key, primary_key=True),
    sa.Column("item", Key, nullable=False, unique=True),
    sa.Column("channel", Key, nullable=False),
    sa.Column("state", Key, nullable=False),
    sa.Column("received_at", Instant, nullable=False),
    sa.Column("raw", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("message_id", Key, nullable=False),
    sa.Column("delivery", Key, nullable=False),
    sa.Column("told_at", sa.Text, nullable=False),
    sa.Column("zone_assumed", sa.Boolean, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Index("ix_callbacks_channel", "channel", "received_at"),
    sa.Index(
        "ix_callbacks_unmatched",
        "channel",
        "message_id",
        postgresql_where=sa.text("state = 'unmatched'"),
        sqlite_where=sa.text("state = 'unmatched'"),
    ),
)


receipt_checks = sa.Table(
    "receipt_checks",
    metadata,
    sa.Column("delivery", Key, primary_key=True),
    sa.Column("again_at", Instant),
)
"""When to ask about a message again; never where that is empty."""


class Report(NamedTuple):
    """A report as it came: its provider and the id that the provider gave it, its channel, and its text."""

    provider: str
    event_id: str
    channel: str
    content: str

    @property
    def item(self) -> str:
        """Return the name under which it stands in the queue."""
        return f"{self.provider}/{digest(self.provider, self.event_id)[:40]}"

    @property
    def raw(self) -> str:
        """Return the reference of its text among the personal values."""
        return f"callback/{self.item}"


def keep(connection: sa.Connection, reports: Iterable[Report], at: datetime) -> int:
    """Keep those reports that were not heard before, to be acted upon; return how many those are."""
    fresh = [each for each in _once(reports) if _insert(connection, each, at)]
    write(connection, [PersonalRow("", each.raw, each.content) for each in fresh])
    enqueue(connection, [Waiting(QUEUE, each.item) for each in fresh])
    return len(fresh)


def read(connection: sa.Connection, item: str) -> sa.Row[Any] | None:
    """Return the row of a report, or None."""
    return connection.execute(sa.select(callbacks).where(callbacks.c.item == item)).one_or_none()


def note(connection: sa.Connection, item: str, state: State, **columns: Any) -> None:
    """Write down what came of a report."""
    changes = {"state": state, **columns}
    connection.execute(sa.update(callbacks).where(callbacks.c.item == item).values(changes))


def belongs_to(connection: sa.Connection, raw: str, member: str) -> None:
    """Put the text of a report among the values of a member, with whom it is erased."""
    connection.execute(sa.update(personal).where(personal.c.ref == raw).values(member=member))


def forget(connection: sa.Connection, raw: str) -> None:
    """Forget the text of a report."""
    connection.execute(sa.delete(personal).where(personal.c.ref == raw))


def forget_strangers(connection: sa.Connection, at: datetime) -> int:
    """Forget the texts of old reports of which nobody knows whom they are about; return how many those are."""
    old = sa.select(callbacks.c.raw).where(
        callbacks.c.state.in_(("unmatched", "failed", "done")), callbacks.c.received_at < at - KEPT_UNMATCHED
    )
    return connection.execute(sa.delete(personal).where(personal.c.member == "", personal.c.ref.in_(old))).rowcount


def are_waiting(connection: sa.Connection) -> bool:
    """Say whether any report waits for its message."""
    return bool(connection.scalar(_ANY_UNMATCHED))


def match(connection: sa.Connection, taken: Sequence[Delivery]) -> int:
    """Have those reports acted upon at once that wait for messages whose calls have just ended; return how many."""
    by_message = {(each.asked.channel, each.provider_message_id): each.id for each in taken if each.provider_message_id}
    by_id = {each.id: each.id for each in taken}
    waiting = sa.select(callbacks.c.item, callbacks.c.channel, callbacks.c.message_id, callbacks.c.delivery).where(
        callbacks.c.state == sa.literal_column("'unmatched'"),
        sa.or_(
            callbacks.c.message_id.in_([message_id for _, message_id in by_message]),
            callbacks.c.delivery.in_(list(by_id)),
        ),
    )
    found = {
        item: by_id.get(delivery) or by_message.get((channel, message_id), "")
        for item, channel, message_id, delivery in connection.execute(waiting)
    }
    for item, delivery in found.items():
        connection.execute(sa.update(callbacks).where(callbacks.c.item == item).values(delivery=delivery))
    return hasten(connection, QUEUE, found) if found else 0


def unmatched(connection: sa.Connection) -> int:
    """Return how many reports wait for their message."""
    query = sa.select(sa.func.count()).select_from(callbacks).where(callbacks.c.state == "unmatched")
    return connection.scalar(query) or 0


def last_heard(connection: sa.Connection, channel: str) -> datetime | None:
    """Return when a report about a channel came last by itself, or None."""
    by_itself = callbacks.c.provider != LOOKED_UP
    query = sa.select(sa.func.max(callbacks.c.received_at)).where(callbacks.c.channel == channel, by_itself)
    found: datetime | None = connection.scalar(query)
    return found


def _once(reports: Iterable[Report]) -> Iterable[Report]:
    """Return reports without those that one post repeats, with ids of a length that an index takes."""
    found: dict[str, Report] = {}
    for each in reports:
        plain = each.event_id.isprintable() and 0 < len(each.event_id) <= LONGEST_ID
        event_id = each.event_id if plain else digest(each.event_id.encode("utf-8", "replace").decode())
        found.setdefault(event_id, each._replace(event_id=event_id))
    return found.values()


def _insert(connection: sa.Connection, report: Report, at: datetime) -> bool:
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    row = {
        "provider": report.provider,
        "event_id": report.event_id,
        "item": report.item,
        "channel": report.channel,
        "state": "new",
        "received_at": at,
        "raw": report.raw,
        "kind": "",
        "message_id": "",
        "delivery": "",
        "told_at": "",
        "zone_assumed": False,
        "note": "",
    }
    inserted = dialect.insert(callbacks).values(row).on_conflict_do_nothing().returning(callbacks.c.item)
    return connection.scalar(inserted) is not None


_ANY_UNMATCHED = sa.select(sa.exists().where(callbacks.c.state == sa.literal_column("'unmatched'")))
