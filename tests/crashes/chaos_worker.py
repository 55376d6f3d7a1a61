"""An engine whose clock runs fast and whose services are over HTTP, at work until somebody kills it.

`python -m tests.crashes.chaos_worker DATABASE_URL SERVICE_URL STARTED_AT FOLDER` works; STARTED_AT is when the
clock of all engines stood at `START`, in seconds since the epoch. A file in FOLDER, named after the process, says
that it has begun.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from adapters.application import Application, embedded_services
from adapters.loops import Loop, heartbeat
from adapters.settings import read_settings
from automations.ports import Call, Service
from domain.commands import Command
from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown
from tests.crashes.chaos_service import HONOURS_KEYS, end_with_parent

START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
SPEED = 60
"""Seconds on the engine's clock in each second that really passes."""

PATIENCE = 0.4
"""Seconds that an engine really waits for an answer."""


class FastClock:
    """A clock that shows the same to all processes, and runs fast."""

    def __init__(self, started_at: float) -> None:
        self._started_at = started_at

    def now(self) -> datetime:
        """Return the instant in UTC."""
        return START + timedelta(seconds=(time.time() - self._started_at) * SPEED)

    def monotonic(self) -> float:
        """Return the seconds that seem to have passed."""
        return time.monotonic() * SPEED


class HttpService:
    """A service over HTTP: each answer, and each missing one, becomes an ending."""

    def __init__(self, address: str, name: str, *, honours_keys: bool) -> None:
        self.name, self.honours_keys = name, honours_keys
        self._address = address

    def perform(self, command: Command, call: Call) -> Ending:
        """Post the command."""
        request = urllib.request.Request(
            f"{self._address}/{self.name}/{command.OPERATION}",
            data=command.model_dump_json().encode(),
            headers={"Idempotency-Key": call.key, "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return Done(result=json.load(answer))
        except urllib.error.HTTPError as error:
            return _ending(error)
        except urllib.error.URLError as error:
            never_sent = isinstance(error.reason, ConnectionRefusedError)
            return (TryLater if never_sent else Unknown)(reason=str(error.reason))
        except (OSError, http.client.HTTPException) as error:
            return Unknown(reason=f"{type(error).__name__}: {error}")


def _ending(error: urllib.error.HTTPError) -> Ending:
    said = f"{error.code} {error.read().decode()}"
    match error.code:
        case 401:
            return Misconfigured(reason=said)
        case 422:
            return Refused(reason=said)
        case _:
            asked = error.headers.get("Retry-After")
            return TryLater(reason=said, wait=timedelta(seconds=int(asked)) if asked else None)


def engine(database_url: str, service_url: str, started_at: float, folder: Path) -> Application:
    """Return an engine of this kind, which sends its messages into a folder."""

    def services(app: Application) -> dict[str, Service]:
        outside = {name: HttpService(service_url, name, honours_keys=keys) for name, keys in HONOURS_KEYS.items()}
        return {**embedded_services(app), **outside}

    settings = read_settings(database_url=database_url, poll_seconds=0.2, outbox=folder / "outbox")
    # Waits are a twentieth of what they are in life; what is tested is not how long they are.
    return Application(settings, clock=FastClock(started_at), services=services, jitter=lambda: 0.05)


def be_quiet() -> None:
    """Log nothing but faults."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


if __name__ == "__main__":
    be_quiet()
    end_with_parent()
    folder = Path(sys.argv[4])
    app = engine(sys.argv[1], sys.argv[2], float(sys.argv[3]), folder)
    worker = app.worker()
    loop = Loop(worker, app.log, threading.Event(), poll=app.settings.poll_seconds)
    with heartbeat(worker, app.settings.lease_seconds / SPEED):
        (folder / str(os.getpid())).touch()
        loop.until_stopped()
