"""What leads from each version of the schema to the next: the first from 1 to 2.

Tables that are only new need no step: they are made after all of these.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from adapters.database import log_queries, meta
from adapters.database.projecting import FOLLOWER, REBUILT_UP_TO, rebuilt_up_to
from adapters.database.readers import projections
from adapters.database.schema import queue, tracking

Upgrade = Callable[[sa.Connection], None]


def with_lanes_of_channels(connection: sa.Connection) -> None:
    """Give each channel a queue for what is bulk beside its own, and let the projections begin anew."""
    lane = sa.case((queue.c.rank == 0, ":transactional"), else_=":bulk")
    of_channels = sa.and_(queue.c.queue.startswith("delivery:"), ~queue.c.queue.like("delivery:%:%"))
    connection.execute(sa.update(queue).where(of_channels).values(queue=queue.c.queue + lane))
    _begin_projections_anew(connection)


def _begin_projections_anew(connection: sa.Connection) -> None:
    """Drop the tables of all projections, which whoever works next fills from the log again."""
    position = log_queries.tracked_position(connection, FOLLOWER)
    meta.remember(connection, REBUILT_UP_TO, str(max(position, rebuilt_up_to(connection))))
    connection.execute(sa.delete(tracking).where(tracking.c.follower == FOLLOWER))
    for projection in projections("UTC"):
        for table in projection.tables:
            table.drop(connection, checkfirst=True)


UPGRADES: tuple[Upgrade, ...] = (with_lanes_of_channels,)
