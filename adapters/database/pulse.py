"""One quick look at a database: how long its log is, and whether work lies in its queues and behind its lanes."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from adapters.database.engine import reading
from adapters.database.lanes import lanes
from adapters.database.schema import head, queue


class Pulse(NamedTuple):
    """The last position of the log; whether something is leased or due now; and what is due next.

    A lane that lets a call through is due as well.
    """

    position: int
    has_work: bool
    next_due: datetime | None

    def is_due(self, now: datetime) -> bool:
        """Say whether there is work at a later instant, if nothing has changed until then."""
        return self.has_work or (self.next_due is not None and self.next_due <= now)


NOTHING_SEEN = Pulse(-1, has_work=True, next_due=None)
"""What somebody knows who has not looked yet."""


def pulse(engine: sa.Engine, now: datetime) -> Pulse:
    """Return what there is at an instant."""
    with reading(engine) as connection:
        position, leased, due, next_due = connection.execute(_PULSE, {"now": now}).one()
    return Pulse(position, bool(leased or due), next_due)


_NOW = sa.bindparam("now", type_=queue.c.due_at.type)
_FREE = sa.and_(queue.c.owner.is_(None), queue.c.lane.is_(None))
_OPENS = lanes.c.opens_at
_LATER = sa.union_all(
    sa.select(queue.c.due_at.label("at")).where(_FREE, queue.c.due_at > _NOW),
    sa.select(_OPENS.label("at")).where(_OPENS > _NOW),
).subquery("later")
_PULSE = sa.select(
    head.c.position,
    sa.exists().where(queue.c.owner.is_not(None)),
    sa.or_(sa.exists().where(_FREE, queue.c.due_at <= _NOW), sa.exists().where(_OPENS <= _NOW)),
    sa.select(sa.func.min(_LATER.c.at)).scalar_subquery(),
)
