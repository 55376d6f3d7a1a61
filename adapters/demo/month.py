"""The month of the demo on a simulated clock: a tick every five minutes, and events as they come in."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.clock import SimulatedClock
from adapters.database.pulse import NOTHING_SEEN, pulse
from adapters.demo.incidents import PowerCut
from adapters.ingestion.batches import Answer, ingest
from adapters.workers import Worked
from domain.errors import Conflict
from domain.moment_ranges import Window

if TYPE_CHECKING:
    from adapters.application import Application

TICK = timedelta(minutes=5)

Arrival = tuple[datetime, dict[str, Any]]
"""When an event comes in, and the event."""


class Month:
    """Plays what happens between two instants; whoever does the work may vanish, and somebody else goes on."""

    def __init__(self, application: Application, clock: SimulatedClock) -> None:
        self._application = application
        self._clock = clock
        self.ticks = 0
        self.crashes = 0
        self._earlier = Worked()
        self._hire()

    @property
    def worked(self) -> Worked:
        """Return what all workers together have done."""
        return self._earlier + self._worker.worked

    def play(
        self, arrivals: Iterable[Arrival], start: datetime, end: datetime, progress: Callable[[int], object]
    ) -> list[Answer]:
        """Let the time pass from `start` to `end`; return what came of each event, in the order of arrival."""
        coming = deque(arrivals)
        answers: list[Answer] = []
        now = start
        while now < end:
            now = min(now + TICK, end)
            self._clock.set(now)
            arrived = [coming.popleft()[1] for _ in range(_due(coming, now))]
            answers += ingest(self._application, arrived) if arrived else []
            self._alive(partial(self._tick, work=bool(arrived)))
            self.ticks += 1
            progress(self.ticks)
        return answers + list(ingest(self._application, [event for _, event in coming]))

    def work(self) -> None:
        """Do all that can be done at this instant."""
        self._alive(self._work)

    def sweep(self, window: Window) -> None:
        """Look again at everything that was due in a window."""
        self._alive(lambda: self._worker.sweep(window))

    def _hire(self) -> None:
        self._worker, self._deliverer = self._application.worker(), self._application.deliverer()
        self._seen = NOTHING_SEEN

    def _alive(self, action: Callable[[], object]) -> None:
        try:
            action()
        except PowerCut:
            self.crashes += 1
            self._earlier = self.worked
            self._hire()

    def _tick(self, *, work: bool) -> None:
        # Most ticks find nothing: then there is no need to look at everything else, since nobody else is at work.
        if self._worker.tick() or work or self._seen.is_due(self._clock.now()):
            self._work()

    def _work(self) -> None:
        while True:
            self._worker.work_until_idle()
            if not self._delivers():
                break
        self._seen = pulse(self._application.engine, self._clock.now())

    def _delivers(self) -> bool:
        try:
            return self._deliverer.work_once()
        except Conflict:
            return True


def _due(coming: deque[Arrival], now: datetime) -> int:
    """Return how many of the events have come in by now."""
    return next((number for number, (at, _) in enumerate(coming) if at > now), len(coming))
