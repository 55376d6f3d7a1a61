"""The tables that nothing can rebuild: the log, the positions of its followers, the queue, and the settings.

Projections stand on a metadata of their own (`projections.columns`), since they can be dropped at any time.
"""

from __future__ import annotations

import sqlalchemy as sa

from projections.columns import NAMING, BigInt, Instant, Json, Key

metadata = sa.MetaData(naming_convention=NAMING)
"""The tables that are kept for ever."""

events = sa.Table(
    "events",
    metadata,
    sa.Column("position", BigInt, primary_key=True, autoincrement=False),
    sa.Column("stream", Key, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("topic", sa.Text, nullable=False),
    sa.Column("state", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("stream", "version"),
)
"""The log. The unique pair of stream and version is what makes a claim happen once."""

head = sa.Table(
    "head",
    metadata,
    sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1", name="one_row"), primary_key=True, autoincrement=False),
    sa.Column("position", BigInt, nullable=False),
)
"""The last position that was given out, in the one row that every append has to lock."""

tracking = sa.Table(
    "tracking",
    metadata,
    sa.Column("follower", Key, primary_key=True),
    sa.Column("position", BigInt, nullable=False),
)
"""The position up to which each follower has read the log."""

queue = sa.Table(
    "queue",
    metadata,
    sa.Column("queue", Key, primary_key=True),
    sa.Column("item", Key, primary_key=True),
    sa.Column("due_at", Instant, nullable=False),
    sa.Column("rank", BigInt, nullable=False),
    sa.Column("payload", Json),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("owner", Key),
    sa.Column("beat", BigInt, nullable=False),
    sa.Column("lane", Key),
    sqlite_with_rowid=False,
)
"""Work that waits or is being done. A row without an owner and a lane is free; see `adapters.database.queue`."""

_FREE = sa.and_(queue.c.owner.is_(None), queue.c.lane.is_(None))
_APART = queue.c.lane.is_not(None)

sa.Index(
    "ix_queue_free",
    queue.c.queue,
    queue.c.due_at,
    queue.c.rank,
    queue.c.item,
    postgresql_where=_FREE,
    sqlite_where=_FREE,
)
sa.Index(
    "ix_queue_apart",
    queue.c.lane,
    queue.c.due_at,
    postgresql_where=_APART,
    sqlite_where=_APART,
)
sa.Index(
    "ix_queue_leased",
    queue.c.owner,
    postgresql_where=queue.c.owner.is_not(None),
    sqlite_where=queue.c.owner.is_not(None),
)

meta = sa.Table(
    "meta",
    metadata,
    sa.Column("name", Key, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
"""Small settings of the database itself; see `adapters.database.meta`."""
