"""What staff see of the clock, and decide: what is ahead, what is past, and whether clock triggers may act."""

from __future__ import annotations

from contextlib import AbstractContextManager

from adapters.database import pausing, restored, watermark
from adapters.database.backfilling import Backfill, whole_past
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.forecasting import Forecast
from adapters.database.looking_ahead import LookAhead, looking_ahead
from adapters.database.projecting import Projector
from adapters.database.restored import Waiting
from adapters.settings import Settings
from automations.outages import Expected
from automations.ports import Clock
from domain.moment_ranges import Window


class ClockDesk:
    """The clock of one operator, as people look at it."""

    def __init__(self, log: EventLog, clock: Clock, settings: Settings, projector: Projector) -> None:
        self._log = log
        self._clock = clock
        self._settings = settings
        self._projector = projector

    def looking_ahead(self) -> AbstractContextManager[LookAhead]:
        """Return what tells which clock rules will run when, as facts are now; to be held for a moment only.

        What a rule does over all entities is found in the index of moments: see `follow`.
        """
        return looking_ahead(self._log, self._settings.default_zone, self._clock.now())

    def follow(self) -> None:
        """Take into the index of moments what was recorded since anybody worked."""
        self._projector.catch_up()

    def backfill(self, rule_id: str, window: Window | None = None, owner: str = "") -> Backfill:
        """Return the past of a clock rule, in a window or all of it; what is claimed goes to a worker."""
        asked = window or whole_past(self._clock.now())
        return Backfill(self._log, self._clock, owner, self._settings.default_zone, rule_id, asked)

    def expected(self) -> list[Expected]:
        """Return what a tick would come to now, for each rule; nothing is claimed or called for it."""
        self.follow()
        zone, interval = self._settings.default_zone, self._settings.tick_interval
        return Forecast(self._log, self._clock.now(), zone, interval).expected()

    def paused(self) -> str | None:
        """Return why clock triggers are paused, or None where they are not."""
        with reading(self._log.engine) as connection:
            return watermark.paused(connection)

    def held(self) -> Waiting | None:
        """Return what waits since the database was restored, or None where it was not."""
        with reading(self._log.engine) as connection:
            return restored.waiting(connection, self._clock.now()) if restored.is_held(connection) else None

    def resume(self, by: str) -> None:
        """Let clock triggers act again, and all that waits since the database was restored."""
        pausing.resume(self._log, self._clock.now(), by)
