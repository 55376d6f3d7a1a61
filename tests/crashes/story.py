"""One story that passes every point of the engine, told step by step; whoever dies begins its step again.

`python -m tests.crashes.story URL FOLDER N` tells it, or goes on with it, and is killed at its n-th point.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from adapters.application import Application, embedded_services
from adapters.clock import SimulatedClock
from adapters.ingestion.cloud_events import read_event
from adapters.points import Point, Points, pass_by
from adapters.settings import read_settings
from automations.authoring import read_rule
from automations.ports import Service
from tests.crashes.ledgers import AWAY_AT_FIRST, DENIED_AT_FIRST, LedgerService, watched

START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
LEASE = timedelta(seconds=60)


def fact(number: int, event_type: str, **data: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "source": "outside", "type": event_type, "time": START.isoformat(), "data": data}


def booking(number: int) -> dict[str, Any]:
    times = {"starts_at": "2026-05-04T09:00:00Z", "ends_at": "2026-05-04T18:00:00Z"}
    return fact(number, "booking.created", booking_id=f"b{number}", member_id="m1", resource_id="r1", **times)


WORLD = [
    fact(1, "space.opened", space_id="mitte", name="Mitte", time_zone="UTC", currency="EUR", locale="de"),
    fact(2, "resource.added", resource_id="r1", space_id="mitte", kind="office", name="Spree", door="d1"),
    fact(3, "member.registered", member_id="m1", name="Mia", email="mia@example.org"),
]
BOOKINGS = [booking(11), booking(12)]
CHANGE = [fact(21, "booking.changed", booking_id="b12", attendees=2)]

DOOR = {"door": "{{ resource.door }}", "from": "booking.starts_at", "until": "booking.ends_at"}
RULES = [
    {
        "id": "welcome",
        "when": "booking.created",
        "do": [{"charge_fee": {"amount": "1 EUR", "reason": "desk"}}, {"create_task": {"title": "Badge"}}],
    },
    {"id": "doors", "when": "booking.starting", "before": "30 minutes", "do": [{"grant_access": DOOR}]},
    {"id": "told", "when": "booking.changed", "do": [{"notify": {"type": "missed"}}]},
]
OUTSIDE: dict[str, dict[str, Any]] = {
    "tasks": {"honours_keys": False},
    "access": {"honours_keys": True, "at_first": DENIED_AT_FIRST},
    "notifications": {"honours_keys": True, "at_first": AWAY_AT_FIRST},
}
"""The services that are not the engine's own, and how they are."""


def ledgers(folder: Path) -> dict[str, LedgerService]:
    """Return the services outside over their files."""
    return {name: LedgerService(folder, name, **how) for name, how in OUTSIDE.items()}


@dataclass(slots=True)
class Teller:
    """The engine of one process, and the instant at which it is."""

    app: Application
    clock: SimulatedClock

    def arrive(self, events: list[dict[str, Any]]) -> None:
        """Let events arrive in one batch, until they are acknowledged."""
        self.app.record(self.app.recorder(), [read_event(each) for each in events])

    def pass_time(self, *, seconds: float = 0, tick: bool = False) -> None:
        """Let a worker work, some time pass, and it work again."""
        worker = self.app.worker()
        worker.work_until_idle()
        self.clock.advance(timedelta(seconds=seconds))
        if tick:
            worker.tick()
        worker.work_until_idle()

    def save_rules(self) -> None:
        """Publish the rules."""
        self.app.save_rules([(read_rule(each).rule, True) for each in RULES], "test")


Step = Callable[[Teller], None]
STEPS: tuple[Step, ...] = (
    Teller.save_rules,
    lambda teller: teller.arrive(WORLD),
    lambda teller: teller.arrive(BOOKINGS),
    lambda teller: teller.pass_time(tick=True),
    lambda teller: teller.pass_time(seconds=30 * 60, tick=True),
    lambda teller: teller.pass_time(seconds=60),
    lambda teller: teller.arrive(CHANGE),
    lambda teller: teller.pass_time(seconds=10, tick=True),
    lambda teller: teller.pass_time(seconds=60),
    lambda teller: teller.pass_time(seconds=60),
    lambda teller: teller.pass_time(seconds=600, tick=True),
)
"""What happens, step by step."""


@contextmanager
def teller(url: str, folder: Path, at: datetime, points: Points = pass_by, **options: Any) -> Any:
    """Lend the engine of a new process."""

    def services(app: Application) -> dict[str, Service]:
        return watched({**embedded_services(app), **ledgers(folder)}, points)

    clock = SimulatedClock(at)
    settings = read_settings(database_url=url, outbox=folder / "outbox")
    app = Application(settings, clock=clock, jitter=lambda: 1.0, services=services, points=points)
    try:
        yield Teller(app, clock)
    finally:
        app.close()


class Progress:
    """How far the story has been told, in a file: the next step, and the instant at which it begins."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "progress"

    def read(self) -> tuple[int, datetime]:
        """Return the step to be done next, and when that is."""
        if not self._file.exists():
            return 0, START
        step, at = self._file.read_text().split()
        return int(step), datetime.fromisoformat(at)

    def write(self, step: int, at: datetime) -> None:
        """Note that everything before a step is over."""
        self._file.write_text(f"{step} {at.isoformat()}")


def tell(url: str, folder: Path, points: Points = pass_by) -> None:
    """Tell the story from where it stands to its end."""
    progress = Progress(folder)
    first, at = progress.read()
    with teller(url, folder, at, points) as telling:
        for number in range(first, len(STEPS)):
            STEPS[number](telling)
            progress.write(number + 1, telling.clock.now())


class Counting:
    """Counts the points that are passed, and acts at the n-th."""

    def __init__(self, n: int = 0, act: Callable[[Point], object] = pass_by) -> None:
        self.passed: list[Point] = []
        self._n, self._act = n, act

    def __call__(self, point: Point) -> None:
        self.passed.append(point)
        if len(self.passed) == self._n:
            self._act(point)


def kill_this_process(point: Point) -> None:
    """Die without a word."""
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    tell(sys.argv[1], Path(sys.argv[2]), Counting(int(sys.argv[3]), kill_this_process))
