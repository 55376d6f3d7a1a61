"""An engine at one instant: it ticks, again and again, until everything that fell due is done.

`python -m tests.crashes.evaluator DATABASE_URL FOLDER INSTANT ITEMS SEED`. Each of its calls takes a random while, and
leaves its key in a ledger.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from adapters.application import Application, embedded_services
from adapters.database.engine import reading
from adapters.loops import heartbeat
from adapters.settings import read_settings
from automations.ports import Call, Service
from domain.commands import Command
from domain.endings import Ending
from domain.errors import Conflict
from projections.executions import counted
from tests.crashes.chaos_service import end_with_parent
from tests.crashes.chaos_worker import be_quiet

LEASE = 1.0
LONGEST_CALL = 0.002


class StandingClock:
    """A clock that stands, on a machine on which time passes."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        """Return the instant."""
        return self._at

    def monotonic(self) -> float:
        """Return seconds that pass."""
        return time.monotonic()


class SlowTasks:
    """The embedded tasks, which take a while and whose calls are written down."""

    name, honours_keys = "tasks", True

    def __init__(self, inner: Service, ledger: Path, chance: random.Random) -> None:
        self._inner, self._ledger, self._chance = inner, ledger, chance

    def perform(self, command: Command, call: Call) -> Ending:
        """Note the call, wait, and make the task."""
        with self._ledger.open("a") as ledger:
            ledger.write(f"{call.key}\n")
        time.sleep(self._chance.uniform(0, LONGEST_CALL))
        return self._inner.perform(command, call)


def engine(url: str, folder: Path, at: datetime, seed: int) -> Application:
    """Return an engine whose clock stands at an instant."""

    def services(app: Application) -> Mapping[str, Service]:
        embedded = embedded_services(app)
        return {**embedded, "tasks": SlowTasks(embedded["tasks"], folder / "calls", random.Random(seed))}

    settings = read_settings(database_url=url, outbox=folder / "outbox", lease_seconds=LEASE)
    return Application(settings, clock=StandingClock(at), services=services)


def work(app: Application, items: int, chance: random.Random) -> None:
    """Tick and work until so many runs are done, whoever did them."""
    worker = app.worker()
    with heartbeat(worker, LEASE):
        while not is_done(app.engine, items):
            time.sleep(chance.uniform(0, 0.02))
            try:
                worker.tick()
                worker.work_until_idle()
            except Conflict:  # the other one took something over: the next round looks again
                continue


def is_done(database: sa.Engine, items: int) -> bool:
    with reading(database) as connection:
        return counted(connection).get("done", 0) >= items


if __name__ == "__main__":
    be_quiet()
    end_with_parent()
    seed = int(sys.argv[5])
    app = engine(sys.argv[1], Path(sys.argv[2]), datetime.fromisoformat(sys.argv[3]), seed)
    work(app, int(sys.argv[4]), random.Random(seed))
