"""How fast events come in over HTTP: `python -m tests.benchmarks.http`.

Single events, each acknowledged after its durable commit on PostgreSQL, on 64 connections to one server process,
beside an empty Starlette route in the same run; and batches of 500 beside the same batches ingested in one process.
The server, the load and the database share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from adapters.application import Application
from adapters.ingestion.batches import ingest
from adapters.settings import read_settings
from adapters.web.reception import Reception
from tests.adapters.cli.samples import WORLD, booking

CONNECTIONS = 64
SECONDS = 5.0
ROUNDS = 3
BATCH = 500
BATCHES = 16
TARGETS = {"single": 0.4, "batch": 0.5}

ROOT = Path(__file__).parents[2]

Figures = dict[str, float]
Next = Callable[[], bytes]
"""Returns the next request, whole, as it goes over the wire."""


class Connection(asyncio.Protocol):
    """One connection that sends the next request as soon as the last one was answered."""

    def __init__(self, following: Next, times: list[float], until: float, over: asyncio.Future[None]) -> None:
        self._next, self._times, self._until, self._over = following, times, until, over
        self._buffer = b""
        self._began = 0.0
        self.statuses: set[bytes] = set()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._began = time.perf_counter()
        if self._began >= self._until:
            self._transport.close()
            return
        self._transport.write(self._next())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(rest) < length:
            return
        self.statuses.add(head[9:12])
        assert head[9:12] in (b"202", b"200"), self._buffer
        self._buffer = rest[length:]
        self._times.append(time.perf_counter() - self._began)
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._over.done():
            self._over.set_result(None)


async def load(port: int, following: Next, seconds: float, connections: int) -> Figures:
    """Return the rate, and the 50th and 99th percentile of the time to an answer in milliseconds."""
    loop = asyncio.get_running_loop()
    times: list[float] = []
    began = time.perf_counter()
    waits = []
    for _ in range(connections):
        over: asyncio.Future[None] = loop.create_future()
        waits.append(over)

        def made(over: asyncio.Future[None] = over) -> Connection:
            return Connection(following, times, began + seconds, over)

        await loop.create_connection(made, "127.0.0.1", port)
    await asyncio.gather(*waits)
    took = time.perf_counter() - began
    ordered = sorted(times)
    return {
        "rate": len(times) / took,
        "p50": ordered[len(ordered) // 2] * 1000,
        "p99": ordered[int(len(ordered) * 0.99)] * 1000,
    }


def loaded(port: int, pid: int, following: Next, seconds: float) -> Figures:
    """Return the figures of one load, with the processor time of the server for each request in microseconds."""
    before = processor_seconds(pid)
    figures = asyncio.run(load(port, following, seconds, CONNECTIONS))
    used = processor_seconds(pid) - before
    return {**figures, "cpu": used / (figures["rate"] * seconds) * 1e6}


def processor_seconds(pid: int) -> float:
    """Return what a process has used so far; 0 where the system does not tell."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def request(body: bytes, token: str, path: str = "/v1/events") -> bytes:
    """Return a request as it goes over the wire."""
    return (
        b"POST %b HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"authorization: Bearer %b\r\ncontent-length: %d\r\n\r\n%b"
    ) % (path.encode(), token.encode(), len(body), body)


def singles(token: str, numbers: Iterator[int]) -> Next:
    return lambda: request(json.dumps(booking(next(numbers))).encode(), token)


@contextmanager
def started(command: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Run a server in a process of its own, and lend the port that it says it listens at, and its process id."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline().rpartition(":")[2]), process.pid
    finally:
        process.terminate()
        process.wait()


def serve_empty() -> None:
    """Serve a route that does nothing, with the same server in the same set-up."""
    import threading

    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from adapters.web.server import Server, listening

    async def empty(_request: Request) -> Response:
        return Response(b"{}", 202, media_type="application/json")

    app = Starlette(routes=[Route("/v1/events", empty, methods=["POST"])])
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, ws="none")
    server = Server(config, threading.Event(), lambda address: print(address, flush=True))
    server.run(sockets=[listening("127.0.0.1", 0)])


def batches(numbers: Iterator[int]) -> list[list[dict[str, Any]]]:
    return [[booking(next(numbers)) for _ in range(BATCH)] for _ in range(BATCHES)]


def in_process(application: Application, numbers: Iterator[int]) -> float:
    """Return how many events a second are ingested in batches without HTTP, from their JSON."""
    lines = [[json.dumps(each).encode() for each in batch] for batch in batches(numbers)]
    recorded = 0
    began = time.perf_counter()
    for batch in lines:
        recorded += sum(answer.status == "accepted" for answer in ingest(application, batch))
    took = time.perf_counter() - began
    assert recorded == BATCH * BATCHES
    return recorded / took


async def over_http(port: int, token: str, numbers: Iterator[int]) -> float:
    """Return how many events a second come in by batches, one after the other on each of two connections."""
    requests = iter([request(json.dumps(batch).encode(), token) for batch in batches(numbers)])
    left = BATCHES

    def following() -> bytes:
        return next(requests)

    began = time.perf_counter()
    loop = asyncio.get_running_loop()
    times: list[float] = []

    class Counted(Connection):
        def _send(self) -> None:
            nonlocal left
            if left <= 0:
                self._transport.close()
                return
            left -= 1
            super()._send()

    waits = []
    for _ in range(2):
        over: asyncio.Future[None] = loop.create_future()
        waits.append(over)

        def made(over: asyncio.Future[None] = over) -> Connection:
            return Counted(following, times, began + 600, over)

        await loop.create_connection(made, "127.0.0.1", port)
    await asyncio.gather(*waits)
    return BATCH * BATCHES / (time.perf_counter() - began)


def measure(url: str, *, seconds: float, rounds: int, with_workers: bool) -> dict[str, Any]:
    """Return the figures of one run on a fresh database."""
    application = Application(read_settings(database_url=url))
    application.install()
    ingest(application, WORLD)
    token = Reception(application).tokens.create("load", ["events:write"], "benchmark").text
    numbers = count(1)
    semel = [sys.executable, "-c", "from adapters.cli.main import run; run()", "serve", "--port", "0"]
    semel += ["--database", url, *([] if with_workers else ["--no-workers"])]
    empty, single = [], []
    alone, batch = [], []
    with ExitStack() as stack:
        empty_port, empty_pid = stack.enter_context(
            started([sys.executable, "-m", "tests.benchmarks.http", "--serve-empty"])
        )
        port, pid = stack.enter_context(started(semel))
        for _ in range(rounds):
            empty.append(loaded(empty_port, empty_pid, singles(token, count(1)), seconds))
            single.append(loaded(port, pid, singles(token, numbers), seconds))
            alone.append(in_process(application, numbers))
            batch.append(asyncio.run(over_http(port, token, numbers)))
    application.close()
    return {
        "empty": median_of(empty),
        "single": median_of(single),
        "in process": statistics.median(alone),
        "batch": statistics.median(batch),
    }


def median_of(found: Sequence[Figures]) -> Figures:
    return {name: statistics.median(each[name] for each in found) for name in found[0]}


def tell(found: dict[str, Any]) -> None:
    for name in ("empty", "single"):
        figures = found[name]
        times = f"p50 {figures['p50']:6.1f} ms   p99 {figures['p99']:6.1f} ms"
        print(f"{name:12} {figures['rate']:8,.0f} /s   {times}   server's processor {figures['cpu']:6.0f} us each")
    print(f"{'in process':12} {found['in process']:8,.0f} events/s in batches of {BATCH}")
    print(f"{'batch':12} {found['batch']:8,.0f} events/s in batches of {BATCH} over HTTP")
    ratios = {
        "single": found["single"]["rate"] / found["empty"]["rate"],
        "batch": found["batch"] / found["in process"],
    }
    for name, ratio in ratios.items():
        verdict = "reached" if ratio >= TARGETS[name] else "MISSED"
        print(f"{name}: {ratio:.2f} of its measure, asked {TARGETS[name]}: {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve-empty", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--with-workers", action="store_true", help="Also run rules in the server's process.")
    arguments = parser.parse_args()
    if arguments.serve_empty:
        serve_empty()
        return
    from tests.databases import PostgresDatabases
    from tests.postgres_server import running

    with running(durable=True) as server, PostgresDatabases.on(server.url, None) as databases, databases.fresh() as url:
        tell(measure(url, seconds=arguments.seconds, rounds=arguments.rounds, with_workers=arguments.with_workers))


if __name__ == "__main__":
    main()
