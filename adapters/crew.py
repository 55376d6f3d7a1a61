"""All that one process does for one operator: it runs rules, ticks when it is time, delivers, and lets events out."""

from __future__ import annotations

from datetime import timedelta

from adapters.database.reconciling import Reconciler
from adapters.database.restored import IsOpen, always_open
from adapters.delivering import DeliveryWorker
from adapters.webhooks.events_out import EventsOut
from adapters.workers import Worked, Worker
from automations.ports import Clock
from domain.errors import Conflict

LONGEST_WAIT = 1.0
"""Seconds of one wait for what is on its way."""


class Crew:
    """A worker and a deliverer, side by side in one thread; ticks are `interval` apart on a clock that is never set.

    Neither does anything unless `is_open`: a database that was restored from a backup waits for staff. Events go out
    in threads of their own; with `waits` a round goes on for as long as some are on their way.
    """

    waits = False

    def __init__(
        self,
        worker: Worker,
        deliverer: DeliveryWorker,
        clock: Clock,
        interval: timedelta,
        is_open: IsOpen = always_open,
        reconciler: Reconciler | None = None,
        events_out: EventsOut | None = None,
    ) -> None:
        self.worker = worker
        self.is_open = is_open
        self._deliverer = deliverer
        self._reconciler = reconciler
        self._events_out = events_out
        self._clock = clock
        self._interval = interval.total_seconds()
        self._ticked: float | None = None

    @property
    def owner(self) -> str:
        """Return the name under which the worker leases executions."""
        return self.worker.owner

    @property
    def worked(self) -> Worked:
        """Return what the worker has done so far."""
        return self.worker.worked

    def work_once(self) -> bool:
        """Do one round of everything; say whether there was anything to do.

        Raises Conflict where another process was faster: the next round looks again.
        """
        if not self.is_open():
            return False
        self._tick_in_time()
        return self._round() or (self.waits and self._wait())

    def work_through(self) -> None:
        """Work until nothing is left that can be done now, without any tick."""
        went_on = self.is_open()
        while went_on:
            try:
                went_on = self._round() or self._wait()
            except Conflict:  # another process was faster: the next round looks again
                went_on = True

    def beat(self) -> None:
        """Show that this process is alive and still at all that it holds; safe to call from another thread."""
        self.worker.beat()
        self._deliverer.beat()
        if self._events_out is not None:
            self._events_out.beat()

    def let_go(self) -> None:
        """Give back at once all that this process holds, for others to take up; safe to call from another thread."""
        self.worker.let_go()
        self._deliverer.let_go()
        if self._events_out is not None:
            self._events_out.let_go()

    def finish(self) -> None:
        """Let what is on its way in other threads arrive, and begin nothing more."""
        if self._events_out is not None:
            self._events_out.finish()

    def _round(self) -> bool:
        went_on = self.worker.work_once() | self._deliverer.work_once()
        return went_on | (self._events_out is not None and self._events_out.work_once())

    def _wait(self) -> bool:
        return self._events_out is not None and self._events_out.wait(LONGEST_WAIT)

    def _tick_in_time(self) -> None:
        now = self._clock.monotonic()
        if self._ticked is None or now - self._ticked >= self._interval:
            self._ticked = now
            self.worker.tick()
            if self._reconciler is not None:
                self._reconciler.reconcile()
