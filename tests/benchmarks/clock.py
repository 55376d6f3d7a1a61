"""What a tick costs: with nothing due, however much is stored, and with many things due at once.

`python -m tests.benchmarks.clock` prints times, rates and ratios on SQLite and on a durable PostgreSQL. Each
figure comes from a process of its own, on a database with a thousand rules. What falls due is recorded, followed
and looked at like any other event. The moments that lie far away are rows of the index and nothing else, written
in bulk: a tick does not come near the events behind them, and a million events would take the follower an hour.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from adapters.application import Application
from adapters.clock import SimulatedClock
from adapters.database.engine import reading
from adapters.ingestion.cloud_events import read_event
from adapters.settings import read_settings
from automations.authoring import read_rules
from projections.moments import moments
from tests.benchmarks.clock_history import BEGIN, Event, events, store_far_moments, written_rules
from tests.history import ZONES

STORED = (10_000, 100_000, 1_000_000)
RULES = 1_000
DUE = 10_000
BATCH = 500
MB = 1_000_000
IDLE_TARGET, RATE_TARGET, FLAT_TARGET = 10.0, 6_000, 1.5

Figures = dict[str, float]


def application(url: str, at: datetime = BEGIN) -> Application:
    return Application(read_settings(database_url=url, default_zone=ZONES[0]), clock=SimulatedClock(at))


def prepare(url: str, stored: int, due: int) -> Figures:
    """Set a database up: rules, as many bookings as will be due, and moments far away from any rule."""
    app = application(url)
    app.install()
    app.save_rules([(each.rule, each.enabled) for each in read_rules(list(written_rules(RULES)))], by="benchmark")
    record(app, list(events(due)))
    app.worker().tick()
    store_far_moments(app.engine, stored - 3 * due)
    with reading(app.engine) as connection:
        held = connection.scalar(sa.select(sa.func.count()).select_from(moments))
    return {"stored": held or 0}


def record(app: Application, told: list[Event]) -> None:
    recorder = app.recorder()
    for start in range(0, len(told), BATCH):
        app.record(recorder, [read_event(each) for each in told[start : start + BATCH]])


# --- what is measured ---


def timed(action: Callable[[], object]) -> float:
    """Return the milliseconds that something takes."""
    begun = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begun)


def idle(url: str, _: int, __: int) -> Figures:
    """Tick with nothing due: for the first time, again and again, and after something was recorded."""
    app = application(url)
    clock: Any = app.clock
    worker = app.worker()
    ticker = worker._ticker
    first = timed(lambda: list(ticker.tick()))
    again, after_news = [], []
    for number in range(100):
        clock.advance(timedelta(milliseconds=100))
        again.append(timed(lambda: list(ticker.tick())))
        if number % 4 == 0:
            news = {
                "id": f"news-{url}-{number}",
                "source": "bench",
                "type": "member.changed",
                "time": BEGIN.isoformat(),
            }
            app.record(app.recorder(), [read_event({**news, "data": {"member_id": f"m{number}", "company": "A"}})])
            worker._projector.catch_up()
            after_news.append(timed(lambda: list(ticker.tick())))
    return {
        "first": first,
        "again": statistics.median(again),
        "worst": max(again),
        "news": statistics.median(after_news),
    }


def due(url: str, _: int, __: int) -> Figures:
    """Find, check and claim everything that fell due in a minute; nothing is run."""
    app = application(url, BEGIN + timedelta(minutes=1))
    ticker = app.worker()._ticker
    clock: Any = app.clock
    list(ticker.tick())  # nothing is due yet: what a process does once is measured on its own
    clock.set(BEGIN + timedelta(minutes=4))
    claimed = 0
    begun, busy = time.perf_counter(), time.process_time()
    for page in ticker.tick():
        claimed += len(page.running)
    took, worked = time.perf_counter() - begun, time.process_time() - busy
    return {"claimed": claimed, "rate": claimed / took, "own": claimed / worked}


def memory(url: str, _: int, __: int) -> Figures:
    """Return the megabytes that such a tick takes: for a page, between pages, and without remembered entities."""
    app = application(url, BEGIN + timedelta(minutes=4))
    ticker = app.worker()._ticker
    tracemalloc.start()
    claimed, page, held, peak = 0, 0, 0, 0
    for each in ticker.tick():
        claimed += len(each.running)
        before, (held, most) = held, tracemalloc.get_traced_memory()
        page, peak = max(page, most - max(before, held) if claimed > BATCH else 0), max(peak, most)
        tracemalloc.reset_peak()
    ticker._judge._cache.forget()
    gc.collect()
    rest = tracemalloc.get_traced_memory()[0]
    return {"claimed": claimed, "page": page / MB, "held": held / MB, "rest": rest / MB, "peak": peak / MB}


PHASES: dict[str, Callable[[str, int, int], Figures]] = {"prepare": prepare, "idle": idle, "due": due, "memory": memory}


def measured(phase: str, url: str, stored: int = 0, many: int = 0) -> Figures:
    """Return the figures of one phase, run in a process of its own."""
    module = "tests.benchmarks.clock"
    command = [sys.executable, "-m", module, "--phase", phase, url, str(stored), str(many)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def run_phase(phase: str, url: str, stored: int, many: int) -> None:
    figures = PHASES[phase](url, stored, many)
    figures["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures))


@contextlib.contextmanager
def databases(kind: str) -> Iterator[Any]:
    """Lend what makes fresh databases: files, or those of a server that syncs to the disk."""
    from tests.databases import PostgresDatabases, SQLiteDatabases
    from tests.postgres_server import running

    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield SQLiteDatabases(Path(folder))
    else:
        with running(durable=True) as server, PostgresDatabases.on(server.url, None) as made:
            yield made


def benchmark(kind: str, sizes: Sequence[int], many: int) -> None:
    """Measure on one kind of database, and print what was found and how it compares."""
    idles: list[Figures] = []
    memories: list[Figures] = []
    found: Figures = {}
    with databases(kind) as made:
        for size, each in zip(sizes, due_of(sizes, many), strict=True):
            with made.fresh() as url:
                held = told(f"{kind}, {size:,} stored", "prepare", url, size, each)["stored"]
                idles.append(told("  idle ticks", "idle", url) | {"stored": held})
                if size < max(sizes):
                    memories.append(told("  memory", "memory", url))
                else:
                    found = told("  due", "due", url)
    report(kind, idles, found, memories)


def due_of(sizes: Sequence[int], many: int) -> list[int]:
    """Return how many things are to fall due beside so many stored ones: few beside the fewest."""
    return [many // 4 if size == min(sizes) < max(sizes) else many for size in sizes]


def report(kind: str, idles: Sequence[Figures], found: Figures, memories: Sequence[Figures]) -> None:
    few = idles[0]
    print(f"\n{kind}: {RULES:,} rules; milliseconds of a tick with nothing due, and times that of the fewest stored")
    print(f"  {'stored':>10} {'idle':>15} {'slowest':>15} {'after news':>15} {'first':>15}")
    for each in idles:
        shown = (f"{each[name]:8.2f} {each[name] / few[name]:5.2f}×" for name in ("again", "worst", "news", "first"))
        print(f"  {each['stored']:>10,.0f}  {'  '.join(shown)}")
    print(f"  (targets {IDLE_TARGET:.0f} ms and {FLAT_TARGET} ×; the slowest is that of a hundred)")
    print(f"  {found['claimed']:,.0f} found, checked, claimed {found['rate']:,.0f} /s   (target {RATE_TARGET:,} /s)")
    print(f"  that is {found['own']:,.0f} for each second of the process itself, whatever else the machine does")
    for each in memories:
        print(
            f"  memory of a tick with {each['claimed']:,.0f} due: {each['page']:.1f} MB for a page, "
            f"{each['rest']:.1f} MB between pages, and {each['held'] - each['rest']:.1f} MB of remembered entities"
        )


def told(name: str, phase: str, url: str, stored: int = 0, many: int = 0) -> Figures:
    """Return the figures of a phase; say that it goes on, and how long it took."""
    print(f"{name}: {phase} …", end="", file=sys.stderr, flush=True)
    begun = time.perf_counter()
    figures = measured(phase, url, stored, many)
    print(f" {time.perf_counter() - begun:.1f} s", file=sys.stderr, flush=True)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stored", type=int, action="append", help="how many moments; may be repeated")
    parser.add_argument("--due", type=int, default=DUE)
    parser.add_argument("--on", choices=("sqlite", "postgresql"), action="append")
    parser.add_argument("--phase", nargs=4, metavar=("PHASE", "URL", "STORED", "DUE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.phase:
        phase, url, stored, many = given.phase
        run_phase(phase, url, int(stored), int(many))
        return
    for kind in given.on or ("sqlite", "postgresql"):
        benchmark(kind, sorted(given.stored or STORED), given.due)


if __name__ == "__main__":
    main()
