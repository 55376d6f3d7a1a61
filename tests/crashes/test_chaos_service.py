"""Thousands of executions, a service that does what it likes, workers that are killed: each ends in one right state.

The service is in a process of its own, behind real HTTP. By default a few hundred executions run;
`SEMEL_FULL=1` makes it ten thousand.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from adapters.application import Application
from adapters.database.engine import reading
from adapters.ingestion.cloud_events import read_event
from automations.authoring import read_rule
from domain.executions import OVER, idempotency_key
from projections.executions import runs
from tests.architecture.tree import ROOT
from tests.crashes.chaos_service import EFFECTS, HONOURS_KEYS, UNANSWERED, Fate
from tests.crashes.chaos_worker import SPEED, START, be_quiet, engine
from tests.operators import BOOKING, event, scene

FULL = bool(os.environ.get("SEMEL_FULL"))
BOOKINGS = 5_000 if FULL else 100
WORKERS = 3
MOST_SECONDS = 3_600 if FULL else 300
RULES = {"fee": "billing", "task": "tasks"}
"""Each rule, and the service that it calls; every booking makes one run of each."""

DO = {"fee": {"charge_fee": {"amount": "1 EUR", "reason": "desk"}}, "task": {"create_task": {"title": "Badge"}}}

Ledger = Mapping[str, Mapping[str, list[Fate]]]


@dataclass(slots=True)
class Chaos:
    """Workers at work, and whoever kills them."""

    command: list[str]
    folder: Path
    chance: random.Random = field(default_factory=lambda: random.Random(11))
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    killed: int = 0

    def fill(self) -> None:
        """Start workers until there are enough."""
        while len(self.workers) < WORKERS:
            self.workers.append(subprocess.Popen([*self.command, str(self.folder)], cwd=ROOT))

    def kill_one(self) -> None:
        """Kill a worker that has begun to work, whatever it is at, unless it is the only one."""
        at_work = [worker for worker in self.workers if (self.folder / str(worker.pid)).exists()]
        if len(at_work) > 1:
            victim = self.chance.choice(at_work)
            self.workers.remove(victim)
            self._kill(victim)

    def kill_all(self) -> None:
        """Leave nobody at work."""
        while self.workers:
            self._kill(self.workers.pop())

    def _kill(self, worker: subprocess.Popen[bytes]) -> None:
        worker.kill()
        worker.wait()
        self.killed += 1


@contextmanager
def service() -> Iterator[str]:
    """Lend the address of a service that is its own process."""
    command = [sys.executable, "-m", "tests.crashes.chaos_service", "7"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def ledger_of(address: str) -> Ledger:
    with urllib.request.urlopen(f"{address}/ledger", timeout=30) as answer:
        told: Ledger = json.load(answer)
    return told


def prepare(app: Application) -> None:
    """Publish the rules, and let all bookings be made."""
    app.install()
    written = [{"id": name, "when": "booking.created", "do": [DO[name]]} for name in RULES]
    app.save_rules([(read_rule(each).rule, True) for each in written], "test")
    recorder = app.recorder()
    times = {"starts_at": "2027-01-01T10:00:00Z", "ends_at": "2027-01-01T12:00:00Z"}
    bookings = [
        event("booking.created", {**BOOKING, "booking_id": f"b{number}", **times}, at=START)
        for number in range(BOOKINGS)
    ]
    for start in range(0, BOOKINGS, 100):
        batch = [*(scene() if not start else []), *bookings[start : start + 100]]
        app.record(recorder, [read_event(each) for each in batch])


def counted(app: Application) -> Counter[str]:
    """Return how many executions have which status."""
    with reading(app.engine) as connection:
        return Counter(run["status"] for run in runs(connection))


def are_over(statuses: Counter[str], share: float = 1.0) -> bool:
    return sum(statuses[status] for status in OVER) >= share * BOOKINGS * len(RULES)


def wreak_havoc(app: Application, chaos: Chaos, until: float) -> None:
    """Kill a worker every few seconds while most of the work is done; then all of them at once."""
    chaos.fill()
    while not are_over(counted(app), 0.7) and time.monotonic() < until:
        time.sleep(chaos.chance.uniform(1, 5))
        chaos.kill_one()
        chaos.fill()
    chaos.kill_all()


def take_over(app: Application) -> Counter[str]:
    """Work alone for one lease time and what it takes to go through what was left; return how all stand then."""
    worker = app.worker()
    worker.work_until_idle()
    time.sleep(app.settings.lease_seconds / SPEED)
    worker.work_until_idle()
    return counted(app)


def finish(app: Application, chaos: Chaos, until: float) -> Counter[str]:
    """Let workers do in peace what is left, waits and all."""
    chaos.fill()
    while not are_over(statuses := counted(app)) and time.monotonic() < until:
        time.sleep(0.5)
    chaos.kill_all()
    return statuses


def wrong_about(run: Mapping[str, Any], fates: list[Fate]) -> str | None:
    """Return what is not right about an execution, given what became of its requests at the service."""
    effects = sum(fate in EFFECTS for fate in fates)
    unanswered = [number for number, fate in enumerate(fates, 1) if fate in UNANSWERED]
    match run["status"]:
        case "done" if effects < 1:
            return "done, but without any effect"
        case "failed" if (effects or "refused" not in fates) and "worker crashed" not in run["reason"]:
            return "failed, though it was not refused"
        case "unknown" if RULES[run["rule"]] == "billing":
            return "unknown, though its service knows keys"
        case "done" | "failed" | "unknown":
            pass
        case _:
            return "not over"
    if RULES[run["rule"]] == "tasks" and (effects > 1 or (unanswered and unanswered[0] != len(fates))):
        return "repeated after an answer that never came"
    return None


def wrong(app: Application, ledger: Ledger) -> list[str]:
    """Return everything that is not right in the end."""
    with reading(app.engine) as connection:
        found = runs(connection)
    keys = {idempotency_key(run["key"], 0) for run in found}
    each_once = Counter((run["rule"], run["entity"]) for run in found)
    faults = [f"{run} ran {count} times" for run, count in each_once.items() if count != 1]
    faults += [] if len(found) == BOOKINGS * len(RULES) else [f"{len(found)} executions"]
    faults += [f"{key} is nobody's key" for requests in ledger.values() for key in requests.keys() - keys]
    for run in found:
        fates = ledger[RULES[run["rule"]]].get(idempotency_key(run["key"], 0), [])
        fault = wrong_about(run, fates)
        faults += [f"{run['rule']} {run['entity']}: {fault}: {fates} {run['reason']}"] if fault else []
    return faults


def _effects(service: str, fates: list[Fate]) -> int:
    """Return how many effects the requests for one key have had; of a repeat, one that honours keys has none."""
    count = sum(fate in EFFECTS for fate in fates)
    return min(count, 1) if HONOURS_KEYS[service] else count


def told(ledger: Ledger, statuses: Counter[str], chaos: Chaos, seconds: float) -> str:
    """Return the figures."""
    lines = [f"{sum(statuses.values())} executions, {dict(statuses)}, {chaos.killed} kills, {seconds:.0f} s"]
    for name, keys in ledger.items():
        fates = Counter(fate for requests in keys.values() for fate in requests)
        most = max(_effects(name, requests) for requests in keys.values())
        repeated = sum(len(requests) > 1 for requests in keys.values())
        lines.append(f"{name}: {fates.total()} requests for {len(keys)} keys ({repeated} repeated): {dict(fates)}")
        lines.append(f"{name}: {most} effects at most for one key")
    return "\n".join(lines)


@pytest.mark.slow
def test_every_execution_ends_in_one_right_state(database_url: str, tmp_path: Path) -> None:
    be_quiet()
    began, started_at = time.monotonic(), time.time()
    until = began + MOST_SECONDS
    with ExitStack() as stack:
        address = stack.enter_context(service())
        app = engine(database_url, address, started_at, tmp_path)
        stack.callback(app.close)
        command = [sys.executable, "-m", "tests.crashes.chaos_worker", database_url, address, str(started_at)]
        chaos = Chaos(command, tmp_path)
        stack.callback(chaos.kill_all)
        prepare(app)
        wreak_havoc(app, chaos, until)
        after_a_lease = take_over(app)
        statuses = finish(app, chaos, until)
        ledger = ledger_of(address)
        print(told(ledger, statuses, chaos, time.monotonic() - began))
        assert after_a_lease["running"] == 0
        assert wrong(app, ledger) == []
