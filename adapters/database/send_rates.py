"""How much of what each provider allows is used up, shared by all workers; `automations.notifications.pace` counts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from adapters.database.schema import metadata
from automations.notifications.pace import Rate
from projections.columns import Instant, Key

send_rates = sa.Table(
    "send_rates",
    metadata,
    sa.Column("channel", Key, primary_key=True),
    sa.Column("empty_at", Instant, nullable=False),
    sqlite_with_rowid=False,
)
"""The instant at which nothing was left of what a channel's provider allows."""


def left(connection: sa.Connection, channel: str, rate: Rate, at: datetime) -> int:
    """Return how many messages may go out now; nobody else takes from them until the commit."""
    return rate.left(connection.scalar(_LOCKED, {"of_channel": channel}), at)


def use(connection: sa.Connection, channel: str, rate: Rate, count: int, at: datetime) -> None:
    """Take so many from what is left, in the transaction that has asked for it."""
    before = connection.scalar(_EMPTY_AT, {"of_channel": channel})
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    insert = dialect.insert(send_rates)
    later = insert.on_conflict_do_update(index_elements=["channel"], set_={"empty_at": insert.excluded.empty_at})
    connection.execute(later, {"channel": channel, "empty_at": rate.empty_after(count, before, at)})


def next_at(connection: sa.Connection, channel: str, rate: Rate) -> datetime | None:
    """Return when a message may go out again, or None where none ever has."""
    empty_at = connection.scalar(_EMPTY_AT, {"of_channel": channel})
    return None if empty_at is None else rate.next_at(empty_at)


_EMPTY_AT = sa.select(send_rates.c.empty_at).where(send_rates.c.channel == sa.bindparam("of_channel"))
_LOCKED = _EMPTY_AT.with_for_update()
