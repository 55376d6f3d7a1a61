"""A dispatcher that sends to a provider with a ledger, and is killed at its n-th point, if it is told one.

`work` runs in a process of its own; the clock stands still but for the times at which leases run out.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog

from adapters.application import Application
from adapters.clock import SimulatedClock
from adapters.delivering import DeliveryWorker
from adapters.ingestion.cloud_events import read_event
from adapters.parallel_calls import ParallelCalls
from adapters.points import Point, Points
from adapters.settings import read_settings
from automations.notifications.channels import CallEnding, Message
from domain.endings import Done

START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
LEASE = timedelta(seconds=61)
CHANNEL = "email"
TYPE = "ready.renewal-talk"
AT_A_TIME = 4
"""Calls of the provider that may be under way."""

LOOKED_AT = frozenset({"expand", "lease", "deliver", "take over"})
"""What the transactions are for whose points count."""


class Provider:
    """Notes each call and each message in a ledger; one that honours keys sends none for a key that it knows."""

    def __init__(self, folder: Path, *, honours_keys: bool, points: Points = lambda point: None) -> None:
        self.honours_keys = honours_keys
        self._ledger, self._keys, self._points = folder / "ledger", folder / "keys", points
        self._keys.mkdir(exist_ok=True)
        self._ledger.touch()

    def send(self, message: Message, key: str) -> CallEnding:
        """Send a message."""
        self._points(Point("before call", CHANNEL))
        self._note("asked", key)
        if not self.honours_keys or self._is_new(key):
            self._note("sent", key)
        self._points(Point("after call", CHANNEL))
        return Done(result={"provider_message_id": key})

    def lines(self, what: str) -> list[str]:
        """Return the keys of all calls that were `asked` for, or of all messages that were `sent`."""
        written = (line.split() for line in self._ledger.read_text().splitlines())
        return [key for kind, key in written if kind == what]

    def _is_new(self, key: str) -> bool:
        try:
            (self._keys / key).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def _note(self, what: str, key: str) -> None:
        with self._ledger.open("a") as ledger:
            ledger.write(f"{what} {key}\n")


@dataclass
class Counting:
    """Counts the points that are passed, from any thread, and kills the process at the n-th, if there is one."""

    killed_at: int = 0
    passed: list[str] = field(default_factory=list)
    _lock: Any = field(default_factory=threading.Lock)

    def __call__(self, point: Point) -> None:
        if point.of not in LOOKED_AT and point.of != CHANNEL:
            return
        with self._lock:
            self.passed.append(f"{point.when} {point.of}")
            if len(self.passed) == self.killed_at:
                os.kill(os.getpid(), signal.SIGKILL)


def opened(url: str, at: datetime = START) -> Application:
    """Open an operator's application; the clock stands at an instant."""
    settings = read_settings(database_url=url, default_zone="UTC")
    return Application(settings, clock=SimulatedClock(at), jitter=lambda: 1.0)


def ask(url: str, count: int) -> None:
    """Make a member known, and ask for so many deliveries."""
    app = opened(url)
    app.install()
    member = {"member_id": "m1", "name": "Mia", "email": "mia@example.org"}
    told = {"id": "e1", "source": "outside", "type": "member.registered", "time": START.isoformat(), "data": member}
    app.record(app.recorder(), [read_event(told)])
    requests = [
        {"idempotency_key": f"k{number}", "recipient": "member/m1", "type": TYPE, "entity": "member/m1"}
        for number in range(count)
    ]
    door = app.notification_door()
    for start in range(0, count, 500):
        outcomes = door.request_many("tests", requests[start : start + 500])
        assert {outcome.status for outcome in outcomes} == {"accepted"}
    app.close()


def work(url: str, folder: str, honours_keys: bool, killed_at: int = 0) -> None:
    """Deliver until nothing is left, not even what others left behind; leave the points passed in the folder."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    counting, app = Counting(killed_at), opened(url)
    app.log.points = counting
    calls = ParallelCalls({CHANNEL: 1 if honours_keys else AT_A_TIME})
    worker = DeliveryWorker(
        log=app.log,
        clock=app.clock,
        owner=f"process {os.getpid()}",
        default_zone="UTC",
        channels={CHANNEL: Provider(Path(folder), honours_keys=honours_keys, points=counting)},
        jitter=lambda: 1.0,
        calls=calls,
    )
    for _ in range(3):
        while worker.work_once():
            pass
        app.clock.advance(LEASE)  # type: ignore[attr-defined]
    calls.close()
    app.close()
    Path(folder, "points").write_text("\n".join(counting.passed))
