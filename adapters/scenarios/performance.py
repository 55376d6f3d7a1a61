"""One scenario while it is played: the engine that works, stops, dies and starts again, and what was found."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from adapters.database.pulse import NOTHING_SEEN, pulse
from adapters.scenarios.crashes import Crashed
from adapters.scenarios.observing import observe
from adapters.scenarios.stage import Stage
from automations.mistakes import Path
from automations.scenario import Scenario
from automations.scenarios.comparing import Difference, compared
from automations.scenarios.expectations import Expectations
from domain.civil_time import zone
from domain.errors import Conflict
from domain.moment_ranges import Window


class Performance:
    """Holds the engine of one stage. A restart throws the worker away, with all that it remembered."""

    def __init__(self, scenario: Scenario, stage: Stage) -> None:
        self.scenario, self.stage = scenario, stage
        self.running = True
        self.differences: list[Difference] = []
        self.notes: list[tuple[Path, str]] = []
        self._begin()

    def start(self) -> None:
        """Start the engine, unless it runs."""
        if not self.running:
            self._begin()
        self.running = True

    def stop(self) -> None:
        """Stop the engine: events are still recorded, and nothing comes of them."""
        self.running = False

    def work(self, *, tick: bool = False) -> None:
        """Let the engine work until it is idle, after a tick where one is due; a dead one starts again."""
        self._alive(self._tick if tick else self._work)

    def sweep(self, window: Window) -> None:
        """Let the engine look again at a window."""
        self._alive(lambda: self._worker.sweep(window))

    def next_due(self) -> datetime | None:
        """Return when the engine will next find something in its queues, as of when it last worked."""
        return self._seen.next_due if self.running else None

    def check(self, expect: Expectations) -> None:
        """Compare what has happened so far with what is expected."""
        self.differences += compared(expect, observe(self.stage, expect), zone(self.scenario.zone))

    def note(self, path: Path, text: str) -> None:
        """Keep what was refused on the way, which by itself fails nothing."""
        self.notes.append((path, text))

    def _begin(self) -> None:
        self._worker, self._deliverer = self.stage.worker(), self.stage.deliverer()
        self._seen = NOTHING_SEEN

    def _alive(self, action: Callable[[], object]) -> None:
        while self.running:
            try:
                with self.stage.crashes.engine_at_work():
                    action()
                return
            except Crashed:
                self._begin()

    def _tick(self) -> None:
        before = self._seen.position
        self._worker.tick()
        self._look()
        # Most ticks of a long scenario find nothing: then there is no need to look at everything else.
        if self._seen.position != before or self._seen.has_work:
            self._work()

    def _work(self) -> None:
        while True:
            self._worker.work_until_idle()
            if not self._delivers():
                break
        self._look()

    def _delivers(self) -> bool:
        try:
            return self._deliverer.work_once()
        except Conflict:  # something changed meanwhile: the next round looks again
            return True

    def _look(self) -> None:
        self._seen = pulse(self.stage.engine, self.stage.clock.now())
