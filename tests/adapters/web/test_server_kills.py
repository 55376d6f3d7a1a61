"""A server that is killed and restarted loses nothing that it acknowledged, and doubles nothing.

Many clients post single events and repeat each until it is acknowledged, while the real process is killed with
SIGKILL at any moment. `SEMEL_FULL=1` has 200 clients, a minute of it, and five kills.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.application import Application
from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.ingestion.batches import ingest
from adapters.settings import read_settings
from adapters.web.reception import Reception
from automations.authoring import read_rules
from domain.facts import Fact
from projections.executions import runs
from tests.adapters.cli.conftest import CALL, ROOT
from tests.adapters.cli.samples import WORLD, booking

FULL = bool(os.environ.get("SEMEL_FULL"))
CLIENTS, SECONDS, PAUSE = (200, 60.0, 0.3) if FULL else (20, 5.0, 0.05)
KILLS = 5 if FULL else 2
PATIENCE = 180.0
"""Seconds within which a server has to answer after its start."""

RULES = [{"id": "greet", "when": "booking.created", "do": [{"create_task": {"title": "Say hello"}}]}]
SOURCE = "clients"


@dataclass
class Traffic:
    """Clients that post events, and what was acknowledged to them."""

    address: str
    token: str
    over: asyncio.Event = field(default_factory=asyncio.Event)
    acknowledged: Counter[str] = field(default_factory=Counter)
    broken: int = 0

    async def client(self, number: int) -> None:
        """Post one event after the other, each until it is acknowledged or everything is over."""
        headers = {"authorization": f"Bearer {self.token}"}
        async with httpx.AsyncClient(base_url=self.address, headers=headers, timeout=20) as client:
            count = 0
            while not self.over.is_set():
                count += 1
                await self._post(client, number * 100_000 + count)
                await asyncio.sleep(PAUSE * random.random())

    async def _post(self, client: httpx.AsyncClient, number: int) -> None:
        event = {**booking(number), "source": SOURCE}
        while not self.over.is_set():
            try:
                answer = await client.post("/v1/events", json=event)
            except httpx.TransportError:
                self.broken += 1
                await asyncio.sleep(0.3)
                continue
            if answer.status_code == 202:
                self.acknowledged[event["id"]] += 1
                return
            assert answer.status_code == 503, answer.text
            await asyncio.sleep(0.1)


@contextmanager
def server(url: str, port: int, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the real server, which is killed in the end."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(folder / "compiled"),  # each start after the first one is quick
        "SEMEL_LEASE_SECONDS": "2",
        "SEMEL_POLL_SECONDS": "0.1",
    }
    command = [sys.executable, "-c", CALL, "serve", "--port", str(port), "--database", url]
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


async def wreak_havoc(traffic: Traffic, url: str, port: int, folder: Path) -> None:
    """Kill the server again and again, each time after it has served for a while."""
    for _ in range(KILLS + 1):
        with server(url, port, folder) as process:
            before = sum(traffic.acknowledged.values())
            await _until(lambda before=before: sum(traffic.acknowledged.values()) > before, process, folder)
            await asyncio.sleep(SECONDS / (KILLS + 1) * (0.5 + random.random()))
            assert process.poll() is None, (folder / "server.log").read_text()
    traffic.over.set()


async def _until(reached: Any, process: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert process.poll() is None, (folder / "server.log").read_text()
        assert time.monotonic() < deadline, "nothing was acknowledged for too long"
        await asyncio.sleep(0.05)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@pytest.mark.slow
def test_what_was_acknowledged_is_there_once_and_its_rule_ran_once(database_url: str, tmp_path: Path) -> None:
    settings = read_settings(database_url=database_url, lease_seconds=1)
    application = Application(settings)
    application.install()
    application.save_rules([(one.rule, one.enabled) for one in read_rules(RULES)], "tests")
    ingest(application, WORLD)
    token = Reception(application).tokens.create("clients", ["events:write"], "tests").text
    port = free_port()

    async def play() -> Traffic:
        traffic = Traffic(f"http://127.0.0.1:{port}", token)
        async with asyncio.TaskGroup() as tasks:
            for number in range(1, CLIENTS + 1):
                tasks.create_task(traffic.client(number))
            tasks.create_task(wreak_havoc(traffic, database_url, port, tmp_path))
        return traffic

    traffic = asyncio.run(play())
    finish(application)
    recorded, ran, tasks = counted(application)
    application.close()
    print(f"{len(traffic.acknowledged)} acknowledged, {len(recorded)} recorded, {traffic.broken} requests broke off")
    assert len(traffic.acknowledged) > CLIENTS
    assert traffic.broken > 0
    assert traffic.acknowledged.keys() <= recorded.keys()
    assert set(recorded.values()) == {1}
    assert ran.keys() == {f"booking/b{name.removeprefix('booking-')}" for name in recorded}
    assert all(statuses == ["done"] for statuses in ran.values())
    assert tasks == dict.fromkeys(ran, 1)


def finish(application: Application) -> None:
    """Do what the killed left behind, once their leases have run out."""
    from threading import Event

    from adapters.loops import Loop, heartbeat

    crew = application.crew()
    with heartbeat(crew, application.settings.lease_seconds):
        Loop(crew, application.log, Event(), poll=0.1).until_idle(lambda held: None)


def counted(application: Application) -> tuple[Counter[str], dict[str, list[str]], Counter[str]]:
    """Return how often each event was recorded, how the runs for each booking ended, and how many tasks it has."""
    recorded: Counter[str] = Counter()
    tasks: Counter[str] = Counter()
    position = 0
    with reading(application.engine) as connection:
        while rows := log_queries.events_after(connection, position, 5_000):
            position = rows[-1].position
            for event in map(application.log.mapper.read, rows):
                if isinstance(event, Fact) and event.source == SOURCE:
                    recorded[event.id] += 1
                if isinstance(event, Fact) and event.type == "task.opened":
                    tasks[str(event.data["entity"])] += 1
        ran: dict[str, list[str]] = {}
        for run in runs(connection):
            ran.setdefault(run["entity"], []).append(run["status"])
    return recorded, ran, tasks
