"""Dossiers are opened and closed, each time with one notice to staff.

What is compared is how failures stand, which a projection knows, with what the events of each dossier say. So it
does not matter who looks, how often, or who died in between; and of two who look at once the version of the
dossier's stream lets one record it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import sqlalchemy as sa
import structlog

from adapters.database import log_queries, projecting, set_aside
from adapters.database.engine import reading
from adapters.database.evaluating import FOLLOWER as EVALUATOR
from adapters.database.event_log import EventLog
from adapters.database.notices import tell_staff
from adapters.database.unit_of_work import unit_of_work
from adapters.dossiers.stored_dossiers import stored_state
from automations.ports import Clock
from domain.dossiers import (
    CORRUPT,
    DossierClosed,
    DossierOpened,
    DossierReopened,
    DossierState,
    cause_of_corruption,
    closing,
    notice_of,
    opening,
)
from projections.dossier_lists import DueChange, due_changes, open_of_class

logger = structlog.get_logger(__name__)

Places = tuple[int, int]
"""How far the projections are, and the evaluator, who sets aside what cannot be read."""


class DossierKeeper:
    """Opens and closes dossiers, for one worker."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self.kept: Places | None = None

    def keep(self) -> bool:
        """Open and close what has to be; say whether anything was recorded.

        Raises Conflict where somebody else was faster: then do it again.
        """
        with reading(self._log.engine) as connection:
            places = _places(connection)
            if places == self.kept:
                return False
            changes = _changes(connection) if places[0] >= projecting.rebuilt_up_to(connection) else []
        recorded = [self._record(change) for change in changes]
        self.kept = places
        return any(recorded)

    def _record(self, change: DueChange) -> bool:
        with unit_of_work(self._log, "dossier") as work:
            at = self._clock.now()
            state = stored_state(work.connection, self._log.mapper, change.cause.dossier)
            event = _decided(state, change, at)
            if event is None:
                return False
            tell_staff(work, notice_of(event, change.cause), at)
            work.append([event])
        tell = logger.error if change.opens else logger.info
        tell(event.topic, dossier=event.dossier, operation=change.cause.operation, ending=change.cause.ending)
        return True


def _decided(
    state: DossierState, change: DueChange, at: datetime
) -> DossierOpened | DossierReopened | DossierClosed | None:
    if change.opens:
        return opening(state, change.cause, runs=change.runs, reason=change.reason, at=at)
    return closing(state, change.cause.dossier, change.settled, at)


def _places(connection: sa.Connection) -> Places:
    followers = (projecting.FOLLOWER, EVALUATOR)
    projections, evaluator = (log_queries.tracked_position(connection, follower) for follower in followers)
    return projections, evaluator


def _changes(connection: sa.Connection) -> list[DueChange]:
    return [*due_changes(connection), *_about_corruption(connection)]


def _about_corruption(connection: sa.Connection) -> Iterator[DueChange]:
    """Return the dossiers about events that cannot be read which are to be opened or closed."""
    unread = set_aside.unsettled(connection)
    numbers = Counter(cause_of_corruption(each.error.topic) for each in unread)
    reasons = {cause_of_corruption(each.error.topic): str(each.error) for each in unread}
    is_open = set(open_of_class(connection, CORRUPT))
    for cause in sorted(numbers.keys() - is_open, key=str):
        yield DueChange(cause, opens=True, runs=numbers[cause], reason=reasons[cause])
    for cause in sorted(is_open - numbers.keys(), key=str):
        yield DueChange(cause, opens=False)
