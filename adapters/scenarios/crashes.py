"""Where the engine can be made to die in a scenario: the points that are armed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adapters.points import Point
from automations.scenario import CrashPoint


class Crashed(BaseException):
    """The engine died. No handler inside of it may take this for an error that it can live with."""


class CrashPoints:
    """The points that are armed; each is reached once, by the engine and by nobody else."""

    def __init__(self) -> None:
        self._armed: set[str] = set()
        self._at_work = False

    def arm(self, point: CrashPoint) -> None:
        """Make the engine die the next time it gets to a point."""
        self._armed.add(point)

    @contextmanager
    def engine_at_work(self) -> Iterator[None]:
        """Hold while the engine works; outside of this nothing dies."""
        self._at_work = True
        try:
            yield
        finally:
            self._at_work = False

    def reach(self, point: Point) -> None:
        """Die here, if the point is armed; of commits those count that record something of an execution."""
        if not self._at_work or point.when not in self._armed:
            return
        if point.when == "before commit" and not any(topic.startswith("execution.") for topic in point.topics):
            return
        self._armed.remove(point.when)
        raise Crashed(point)
