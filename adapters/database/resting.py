"""Whether there is nothing to do, in one statement: most rounds of a worker find nothing."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from adapters.database.engine import reading
from adapters.database.evaluating import FOLLOWER as EVALUATOR
from adapters.database.event_log import EventLog
from adapters.database.lanes import lanes
from adapters.database.projecting import FOLLOWER as PROJECTIONS
from adapters.database.queue_dues import FIRST_DUE
from adapters.database.schema import head, queue, tracking
from automations.ports import Clock


class State(NamedTuple):
    """How far the log and its followers are, whether work is leased, and when waiting work goes on."""

    head: int
    projected: int
    evaluated: int
    has_leases: bool
    next_due: datetime | None
    next_opening: datetime | None

    @property
    def followed(self) -> tuple[int, int]:
        """Return how far the two followers are."""
        return self.projected, self.evaluated

    def is_quiet(self, now: datetime) -> bool:
        """Say whether only news can make work, as of an instant."""
        waits = (self.next_due, self.next_opening)
        return not self.has_leases and all(instant is None or instant > now for instant in waits)


class Rest:
    """The rest of one worker: while everything recorded is followed and nothing is due.

    Where followers cannot come to the head, it begins with a round that found nothing.
    """

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._seen: State | None = None
        self._rested: State | None = None

    def goes_on(self, kept: tuple[int, int] | None) -> bool:
        """Say whether there is nothing to do; `kept` is how far followers were when dossiers were kept last."""
        with reading(self._log.engine) as connection:
            self._seen = seen = State(*connection.execute(_STATE).one())
        is_followed = kept == seen.followed == (seen.head, seen.head)
        return (is_followed or seen == self._rested) and seen.is_quiet(self._clock.now())

    def begin(self) -> None:
        """Rest, since nothing was found to do in the state that was seen last."""
        self._rested = self._seen


def _reached(follower: str) -> sa.ScalarSelect[int]:
    return sa.select(tracking.c.position).where(tracking.c.follower == follower).scalar_subquery()


_STATE = sa.select(
    head.c.position,
    _reached(PROJECTIONS),
    _reached(EVALUATOR),
    sa.select(queue.c.item).where(queue.c.owner.is_not(None)).exists(),
    FIRST_DUE,
    sa.select(sa.func.min(lanes.c.opens_at)).scalar_subquery(),
).where(head.c.id == 1)
