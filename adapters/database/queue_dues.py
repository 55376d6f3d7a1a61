"""When the next item of each queue is due."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from adapters.database.schema import queue as table


def next_dues(connection: sa.Connection) -> dict[str, datetime]:
    """Return when the next free item of each queue is due, of those that have any.

    What that costs depends on how many queues there are, and not on how much waits in them.
    """
    found = connection.execute(_NEXT_DUES)
    return {name: due_at for name, due_at in found if name is not None}


def items_of(connection: sa.Connection, queue_name: str) -> list[str]:
    """Return what waits in a queue, or is being done."""
    return list(connection.scalars(sa.select(table.c.item).where(table.c.queue == queue_name)))


_FREE = sa.and_(table.c.owner.is_(None), table.c.lane.is_(None))
_FIRST = sa.select(sa.func.min(table.c.queue).label("queue")).where(_FREE).cte("names", recursive=True)
_NEXT = sa.select(sa.func.min(table.c.queue)).where(_FREE, table.c.queue > _FIRST.c.queue).scalar_subquery()
_NAMES = _FIRST.union_all(sa.select(_NEXT).where(_FIRST.c.queue.is_not(None)))
_DUE = sa.select(sa.func.min(table.c.due_at)).where(_FREE, table.c.queue == _NAMES.c.queue).scalar_subquery()
_NEXT_DUES = sa.select(_NAMES.c.queue, _DUE)

FIRST_DUE = sa.select(sa.func.min(_DUE)).select_from(_NAMES).scalar_subquery()
"""When the first of all free items is due, as part of a statement."""
