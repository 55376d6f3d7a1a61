"""Up to which instant ticks have looked, and whether they are paused, and why."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from adapters.database import meta
from adapters.database.schema import head, tracking
from adapters.database.schema import meta as table
from domain.errors import Unavailable
from projections.moments import moment_zones, second_looks

WATERMARK = "watermark"
POSITION = "watermark-position"
PAUSED = "paused"


class Standing(NamedTuple):
    """How far ticks have come, and the database with them.

    `looked_until` is the watermark; the rules that ticks have looked with are those as of the `position` of the
    log. `head` is where the log ends now, `projected` how far the index of moments has followed it, and `zones` in
    how many zones moments are.
    """

    looked_until: datetime
    position: int
    is_paused: bool
    head: int
    projected: int
    zones: int
    has_second_looks: bool

    @property
    def is_behind(self) -> bool:
        """Say whether the index has still to take something over."""
        return self.projected < self.head

    @property
    def state(self) -> tuple[int, int]:
        """Return what changes whenever a rule or a moment does."""
        return self.head, self.projected


def standing(connection: sa.Connection, projections: str) -> Standing:
    """Return how far ticks have come, in one statement; `projections` is the follower that keeps the index."""
    row = connection.execute(_STANDING, {"follower": projections}).one()
    looked_until = _instant(row.watermark or row.created_at)
    position, is_paused = int(row.position or 0), row.paused is not None
    return Standing(looked_until, position, is_paused, row.head, row.projected or 0, row.zones, bool(row.again))


def stored(connection: sa.Connection) -> datetime:
    """Return the stored watermark; before the first tick, the instant at which the database was made."""
    return _instant(meta.remembered(connection, WATERMARK) or meta.remembered(connection, meta.CREATED_AT))


def move(connection: sa.Connection, to: datetime, position: int) -> None:
    """Move the watermark on, unless another worker has moved it as far; it never goes back."""
    text = to.isoformat(timespec="microseconds")  # of one length, so that texts compare like instants
    if connection.execute(_MOVE, {"to": text}).rowcount == 0:
        if meta.remembered(connection, WATERMARK) is not None:
            return
        meta.remember(connection, WATERMARK, text)
    meta.remember(connection, POSITION, str(position))


def pause(connection: sa.Connection, reason: str) -> None:
    """Let no clock trigger act until somebody resumes."""
    meta.remember(connection, PAUSED, reason)


def paused(connection: sa.Connection) -> str | None:
    """Return why clock triggers are paused, or None where they are not."""
    return meta.remembered(connection, PAUSED)


def resume(connection: sa.Connection) -> None:
    """Let clock triggers act again."""
    meta.forget(connection, PAUSED)


def _instant(text: str | None) -> datetime:
    if text is None:
        raise Unavailable("the database does not know when it was made: restore it from a backup")
    return datetime.fromisoformat(text)


def _remembered(name: str, label: str) -> sa.Label[str]:
    return sa.select(table.c.value).where(table.c.name == name).scalar_subquery().label(label)


_MOVE = (
    sa.update(table)
    .where(table.c.name == WATERMARK, table.c.value < sa.bindparam("to"))
    .values(value=sa.bindparam("to"))
)
_STANDING = sa.select(
    _remembered(WATERMARK, "watermark"),
    _remembered(meta.CREATED_AT, "created_at"),
    _remembered(POSITION, "position"),
    _remembered(PAUSED, "paused"),
    head.c.position.label("head"),
    sa.select(tracking.c.position)
    .where(tracking.c.follower == sa.bindparam("follower"))
    .scalar_subquery()
    .label("projected"),
    sa.select(sa.func.count()).select_from(moment_zones).scalar_subquery().label("zones"),
    sa.select(second_looks.c.entity).exists().label("again"),
).where(head.c.id == 1)
