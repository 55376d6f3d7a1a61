"""An engine that ticks once, at an instant, and does what it finds; several may do so at the same time.

`python -m tests.crashes.ticker DATABASE_URL FOLDER INSTANT DELAY` waits for the file `go` in FOLDER, and then so many
seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from adapters.application import Application, embedded_services
from adapters.clock import SimulatedClock
from adapters.settings import read_settings
from automations.ports import Service
from tests.crashes.chaos_worker import be_quiet
from tests.crashes.ledgers import LedgerService


def ticking(url: str, folder: Path, at: datetime) -> Application:
    """Return an engine whose tasks go into a ledger that knows nothing of keys."""

    def services(app: Application) -> Mapping[str, Service]:
        return {**embedded_services(app), "tasks": LedgerService(folder, "tasks", honours_keys=False)}

    settings = read_settings(database_url=url, outbox=folder / "outbox")
    return Application(settings, clock=SimulatedClock(at), services=services)


if __name__ == "__main__":
    be_quiet()
    folder = Path(sys.argv[2])
    app = ticking(sys.argv[1], folder, datetime.fromisoformat(sys.argv[3]))
    worker = app.worker()
    while not (folder / "go").exists():
        time.sleep(0.001)
    time.sleep(float(sys.argv[4]))
    worker.tick()
    worker.work_until_idle()
