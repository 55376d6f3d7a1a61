"""Finds the messages that came too late to be sent, and has staff told of them once, together."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
import structlog

from adapters.database import meta
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.notices import tell_staff
from adapters.database.unit_of_work import unit_of_work
from automations.notifications.lateness import Wave
from domain.errors import Conflict, Unavailable
from domain.notices import PREFIX
from projections.deliveries import deliveries

TOLD = "late-messages-told"
"""Where it is remembered up to which instant staff know what expired, and when they were told."""

logger = structlog.get_logger(__name__)


class LateMessages:
    """Has staff told, for one worker: it looks when that has evaluated anything, and for as long as a wave waits.

    What expired because of quiet hours is decided before its time is over, and is no news.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._evaluated = 0
        self._may_wait = True

    def tell(self, at: datetime, evaluated: int) -> None:
        """Have staff told if messages expired that could have been sent in time, had anybody sent them.

        `evaluated` is how many events the worker has evaluated so far.
        """
        if evaluated == self._evaluated and not self._may_wait:
            return
        with reading(self._log.engine) as connection:
            wave = _wave(connection)
        self._evaluated, self._may_wait = evaluated, wave is not None
        if wave is not None and wave.is_to_be_told(at):
            self._tell(wave, at)

    def _tell(self, wave: Wave, at: datetime) -> None:
        try:
            with unit_of_work(self._log, "late messages") as work:
                meta.remember(work.connection, TOLD, f"{wave.last.isoformat()} {at.isoformat()}")
                if tell_staff(work, wave.notice, at):
                    logger.error("messages.too-late", messages=wave.notice.payload["messages"])
        except (Conflict, Unavailable):
            return  # another process was faster, or the next tick tells it


def _wave(connection: sa.Connection) -> Wave | None:
    up_to, told_at = _told(connection)
    query = _EXPIRED if up_to is None else _EXPIRED.where(deliveries.c.at > up_to)
    rows = connection.execute(query).all()
    if not rows:
        return None
    numbers = {name: number for name, number, _, _ in rows}
    return Wave(numbers, min(row.first for row in rows), max(row.last for row in rows), told_at)


def _told(connection: sa.Connection) -> tuple[datetime | None, datetime | None]:
    remembered = meta.remembered(connection, TOLD)
    if remembered is None:
        return None, None
    up_to, told_at = map(datetime.fromisoformat, remembered.split())
    return up_to, told_at


_EXPIRED = (
    sa.select(
        deliveries.c.type,
        sa.func.count(),
        sa.func.min(deliveries.c.at).label("first"),
        sa.func.max(deliveries.c.at).label("last"),
    )
    .where(deliveries.c.status == "expired", deliveries.c.at >= deliveries.c.expires_at)
    .where(~deliveries.c.type.startswith(PREFIX, autoescape=True))
    .group_by(deliveries.c.type)
)
