"""Every delivery with what became of it: what `semel deliveries` lists, and what lies in whose inbox."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from domain.deliveries import (
    AttemptStep,
    DeliveryFailed,
    DeliveryHeld,
    DeliveryPending,
    DeliveryRead,
    DeliveryRetrying,
    DeliverySending,
    DeliverySent,
    DeliveryStep,
    DeliveryUnknown,
)
from domain.delivery_acts import DeliveryRequeued
from domain.events import DomainEvent
from domain.ids import id_of
from projections.columns import BigInt, Instant, Key, metadata
from projections.projection import Batch

deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("delivery", Key, primary_key=True),
    sa.Column("position", BigInt, nullable=False),
    sa.Column("notification", Key, nullable=False),
    sa.Column("producer", sa.Text, nullable=False),
    sa.Column("execution", Key, nullable=False),
    sa.Column("entity", Key, nullable=False),
    sa.Column("to", Key, nullable=False),
    sa.Column("address", Key, nullable=False),
    sa.Column("channel", Key, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("lane", sa.Text, nullable=False),
    sa.Column("status", Key, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("at", Instant, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("next_attempt_at", Instant),
    sa.Column("provider_message_id", sa.Text, nullable=False),
    sa.Column("last_error", sa.Text, nullable=False),
    sa.Column("requested_at", Instant, nullable=False),
    sa.Column("due_at", Instant, nullable=False),
    sa.Column("expires_at", Instant, nullable=False),
    sa.Column("sent_at", Instant),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("read_at", Instant),
    # A notification goes to an address on a channel once; its stream says so too.
    sa.UniqueConstraint("notification", "channel", "address"),
    sa.Index("ix_deliveries_position", "position"),
    sa.Index("ix_deliveries_status", "status"),
    sa.Index("ix_deliveries_entity", "entity"),
    sa.Index("ix_deliveries_to", "to", "channel"),
    sa.Index("ix_deliveries_provider_message_id", "provider_message_id"),
    sa.Index("ix_deliveries_sent", "channel", "status", "sent_at"),
)

Columns = dict[str, Any]


class DeliveriesProjection:
    """Keeps one row for each delivery."""

    tables: tuple[sa.Table, ...] = (deliveries,)

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Insert what began in this batch, with all that followed, and update what had begun before."""
        fresh: dict[str, Columns] = {}
        changed: dict[str, Columns] = {}
        for entry in batch.recorded:
            event = entry.event
            if isinstance(event, DeliveryPending):
                fresh[event.stream] = _row(event, entry.position)
            elif columns := _changes(event):
                (fresh if event.stream in fresh else changed).setdefault(event.stream, {}).update(columns)
        if fresh:
            connection.execute(sa.insert(deliveries), list(fresh.values()))
        _update(connection, changed)


def _row(event: DeliveryPending, position: int) -> Columns:
    return {
        "delivery": id_of(event.stream),
        "position": position,
        "notification": event.notification,
        "producer": event.producer,
        "execution": event.cause.execution if event.cause else "",
        "entity": event.entity,
        "to": event.to,
        "address": event.address,
        "channel": event.channel,
        "type": event.type,
        "lane": event.lane,
        "status": "pending",
        "reason": "",
        "at": event.at,
        "attempts": 0,
        "next_attempt_at": None,
        "provider_message_id": "",
        "last_error": "",
        "requested_at": event.requested_at,
        "due_at": event.requested_at,
        "expires_at": event.expires_at,
        "sent_at": None,
        "message": "",
        "read_at": None,
    }


def _changes(event: DomainEvent) -> Columns | None:
    """Return the columns that an event of a delivery changes, or None for any other event."""
    if isinstance(event, DeliveryRead):
        return {"read_at": event.at}
    if isinstance(event, DeliveryRequeued):
        return {"status": "pending", "reason": "", "at": event.at, "next_attempt_at": None, "due_at": event.at}
    if not isinstance(event, DeliveryStep):
        return None
    columns: Columns = {"status": event.STATE, "reason": event.reason, "at": event.at, "next_attempt_at": None}
    if isinstance(event, AttemptStep):
        columns["attempts"] = event.attempt
    return {**columns, **_details(event)}


def _details(event: DeliveryStep) -> Columns:
    match event:
        case DeliverySending():
            return {"message": event.message}
        case DeliverySent():
            return {"provider_message_id": event.provider_message_id, "sent_at": event.at}
        case DeliveryHeld():
            return {"next_attempt_at": event.until, "due_at": event.until}
        case DeliveryRetrying():
            return {"next_attempt_at": event.again_at, "last_error": event.reason}
        case DeliveryUnknown() | DeliveryFailed():
            return {"last_error": event.reason}
        case _:
            return {}


def _update(connection: sa.Connection, changed: Mapping[str, Columns]) -> None:
    alike: defaultdict[tuple[str, ...], list[Columns]] = defaultdict(list)
    for stream, columns in changed.items():
        row = {f"new_{name}": value for name, value in columns.items()}
        alike[tuple(columns)].append(row | {"its_delivery": id_of(stream)})
    for names, rows in alike.items():
        statement = (
            sa.update(deliveries)
            .where(deliveries.c.delivery == sa.bindparam("its_delivery"))
            .values({name: sa.bindparam(f"new_{name}") for name in names})
        )
        connection.execute(statement, rows)


LISTED = (
    "notification",
    "to",
    "channel",
    "type",
    "status",
    "reason",
    "at",
    "attempts",
    "next_attempt_at",
    "provider_message_id",
    "last_error",
)
"""The columns of a listing, in their order (contract 5)."""


def listed(
    connection: sa.Connection,
    *,
    status: Iterable[str] = (),
    entity: str | None = None,
    to: str | None = None,
    channel: str | None = None,
    execution: str | None = None,
    type: str | None = None,
    ids: Iterable[str] | None = None,
) -> list[Mapping[str, Any]]:
    """Return deliveries with all their columns, in the order in which they began, those that fit all asked for."""
    query = sa.select(deliveries).order_by(deliveries.c.position)
    asked = {"entity": entity, "to": to, "channel": channel, "execution": execution, "type": type}
    for name, value in asked.items():
        if value is not None:
            query = query.where(deliveries.c[name] == value)
    if wanted := list(status):
        query = query.where(deliveries.c.status.in_(wanted))
    if ids is not None:
        query = query.where(deliveries.c.delivery.in_(list(ids)))
    return [dict(row._mapping) for row in connection.execute(query)]


def ids_beginning(connection: sa.Connection, beginning: str) -> list[str]:
    """Return the ids of deliveries that begin so, two of them at most: more than one names none."""
    query = sa.select(deliveries.c.delivery).where(deliveries.c.delivery.startswith(beginning, autoescape=True))
    return list(connection.scalars(query.order_by(deliveries.c.delivery).limit(2)))


def counted(connection: sa.Connection, *, producer: str | None = None) -> dict[str, int]:
    """Return how many deliveries there are of each status, of one producer or of all."""
    query = sa.select(deliveries.c.status, sa.func.count()).group_by(deliveries.c.status)
    if producer is not None:
        query = query.where(deliveries.c.producer == producer)
    return {status: count for status, count in connection.execute(query)}  # noqa: C416 - a row is no pair


def inbox(connection: sa.Connection, to: str, *, unread: bool = False) -> list[Mapping[str, Any]]:
    """Return what lies in somebody's inbox, the newest first: of `member/m1`, or of `staff` as a whole."""
    query = (
        sa.select(deliveries)
        .where(deliveries.c.to == to, deliveries.c.channel == "in_app", deliveries.c.sent_at.is_not(None))
        .order_by(deliveries.c.sent_at.desc(), deliveries.c.position.desc())
    )
    if unread:
        query = query.where(deliveries.c.read_at.is_(None))
    return [dict(row._mapping) for row in connection.execute(query)]
