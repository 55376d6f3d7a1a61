"""What lies in somebody's inbox, page by page, and what has come since somebody looked."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from projections.deliveries import deliveries


class Place(NamedTuple):
    """A place in an inbox."""

    sent_at: datetime
    position: int


def inbox_page(
    connection: sa.Connection, to: str, *, unread: bool, limit: int, beyond: Place | None = None
) -> list[dict[str, Any]]:
    """Return the next messages, the newest first."""
    query = _in_inbox(to).order_by(deliveries.c.sent_at.desc(), deliveries.c.position.desc()).limit(limit)
    if unread:
        query = query.where(deliveries.c.read_at.is_(None))
    if beyond is not None:
        same = sa.and_(deliveries.c.sent_at == beyond.sent_at, deliveries.c.position < beyond.position)
        query = query.where(sa.or_(deliveries.c.sent_at < beyond.sent_at, same))
    return [dict(row._mapping) for row in connection.execute(query)]


def sent_since(connection: sa.Connection, to: str, since: datetime, limit: int) -> list[dict[str, Any]]:
    """Return messages that were sent at or after an instant, in that order."""
    query = _in_inbox(to).where(deliveries.c.sent_at >= since)
    rows = connection.execute(query.order_by(deliveries.c.sent_at, deliveries.c.position).limit(limit))
    return [dict(row._mapping) for row in rows]


def message_of(connection: sa.Connection, to: str, delivery: str) -> dict[str, Any] | None:
    """Return one message of an inbox, or None where it does not lie there."""
    row = connection.execute(_in_inbox(to).where(deliveries.c.delivery == delivery)).one_or_none()
    return None if row is None else dict(row._mapping)


def _in_inbox(to: str) -> sa.Select[Any]:
    lies_there = (deliveries.c.to == to, deliveries.c.channel == "in_app", deliveries.c.sent_at.is_not(None))
    return sa.select(deliveries).where(*lies_there)
