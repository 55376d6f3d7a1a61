"""A scenario is played: the clock goes from stop to stop, and at each the engine works until it is idle.

The clock stops at every tick, at every step of the timeline, and where work that waits becomes due. Steps
happen in the order written. At a stop that is a tick as well, the tick comes last, so that what somebody does
at that instant is seen by it; but steps that look at what the engine has done come after it.
"""

from __future__ import annotations

from collections import deque
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from adapters.scenarios.databases import fresh_database
from adapters.scenarios.performance import Performance
from adapters.scenarios.stage import BY, Stage
from adapters.scenarios.steps import perform
from adapters.scenarios.world import events_before, rules_at_first
from automations.mistakes import Path
from automations.scenario import ActOnRuns, CallBack, Check, Scenario, Sweep, Timed
from automations.scenarios.comparing import Difference

LOOKING = (Check, Sweep, ActOnRuns, CallBack)
"""Steps that look at what the engine has done up to and including that instant."""


@dataclass(slots=True)
class Played:
    """What came of a scenario: differences, and notes about steps that were refused."""

    differences: list[Difference] = field(default_factory=list)
    notes: list[tuple[Path, str]] = field(default_factory=list)


def play(scenario: Scenario, database_url: str | None = None) -> Played:
    """Play a scenario on a fresh database; see `databases.fresh_database` for the URL."""
    with fresh_database(database_url) as place, closing(Stage(scenario, place)) as stage:
        return _Player(scenario, stage).play()


class _Player:
    """Moves the clock through one scenario."""

    def __init__(self, scenario: Scenario, stage: Stage) -> None:
        self._scenario, self._stage, self._clock = scenario, stage, stage.clock
        self._steps = deque(scenario.timeline)
        self._performance = Performance(scenario, stage)

    def play(self) -> Played:
        """Play it to its end."""
        performance = self._performance
        self._begin()
        self._pass_through()
        performance.check(self._scenario.expect)
        return Played(performance.differences, performance.notes)

    def _begin(self) -> None:
        """Record what is given, and enable the rules at the first instant, so that they look ahead only."""
        for event in events_before(self._scenario):
            perform(event, self._performance, ("given",))
        self._clock.set(self._scenario.start)
        self._stage.save_rules([(each.rule, each.enabled) for each in rules_at_first(self._scenario)], BY)

    def _pass_through(self) -> None:
        self._stop()
        while self._clock.now() < self._scenario.end:
            self._clock.set(self._next_stop())
            self._stop()

    def _stop(self) -> None:
        """Do all that happens at this instant; one that sets the clock makes it another instant."""
        while self._steps and self._steps[0].at <= self._clock.now():
            self._take(self._steps.popleft())
        self._work()

    def _take(self, timed: Timed) -> None:
        if isinstance(timed.step, LOOKING):
            self._work()
        perform(timed.step, self._performance, timed.path)
        self._performance.work()

    def _work(self) -> None:
        self._performance.work(tick=not self._since_tick())

    def _since_tick(self) -> timedelta:
        """Return how long ago a tick was due: nothing, right at one."""
        return (self._clock.now() - self._scenario.start) % self._scenario.tick

    def _next_stop(self) -> datetime:
        now = self._clock.now()
        stops = [now - self._since_tick() + self._scenario.tick, self._scenario.end]
        if self._steps:
            stops.append(self._steps[0].at)
        due = self._performance.next_due()
        return min(stops if due is None else [*stops, due])
