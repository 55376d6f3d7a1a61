"""How fast the spine is: events from a file through ingestion, projections, evaluation, claims and traces.

`python -m tests.benchmarks.spine` prints rates and peak memory on SQLite and on a durable PostgreSQL, beside
the raw insert rates of the same run. Each figure comes from a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from adapters.application import Application
from adapters.database.evaluating import EvaluatingFollower
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache
from adapters.database.follower import PageReader
from adapters.database.projecting import Projector
from adapters.database.readers import projections
from adapters.database.unit_of_work import unit_of_work
from adapters.ingestion.cloud_events import read_event, read_json
from adapters.memory import collect_rarely
from adapters.settings import read_settings
from domain.facts import Fact
from tests.history import START, history
from tests.rules import rules

EVENTS = 100_000
BATCH = 500
TARGETS = {"sqlite": 5_000, "postgresql": 3_000}

Figures = dict[str, float]


def application(url: str) -> Application:
    return Application(read_settings(database_url=url, default_zone="Europe/Berlin"))


def batches(path: Path) -> Iterator[list[bytes]]:
    with path.open("rb") as lines:
        while batch := list(islice(lines, BATCH)):
            yield batch


def raw(url: str, path: Path) -> Figures:
    """Append as many facts as the file has lines, made beforehand, in batches: the speed limit of the log."""
    app = application(url)
    app.install()
    made = [
        Fact(
            stream=f"raw/{number}",
            version=1,
            at=START,
            type=event["type"],
            source=event["source"],
            id=event["id"],
            time=event["time"],
            event_date=START.date(),
            data=event["data"],
        )
        for number, event in enumerate(read_json(line) for batch in batches(path) for line in batch)
    ]
    begun = time.perf_counter()
    for start in range(0, len(made), BATCH):
        with unit_of_work(app.log) as work:
            work.append(made[start : start + BATCH])
    return {"rate": len(made) / (time.perf_counter() - begun)}


def ingest(url: str, path: Path) -> Figures:
    """Record the events of the file."""
    app = application(url)
    app.install()
    app.save_rules([(rule, True) for rule in rules()], by="benchmark")
    recorder, lines, accepted = app.recorder(), 0, 0
    begun = time.perf_counter()
    for batch in batches(path):
        outcomes = app.record(recorder, [read_event(read_json(line)) for line in batch])
        lines += len(batch)
        accepted += sum(outcome.status == "accepted" for outcome in outcomes)
    return {"rate": lines / (time.perf_counter() - begun), "accepted": accepted, "lines": lines}


def follow(url: str, path: Path) -> Figures:
    """Take everything over into the projections, evaluate it, claim and trace; nothing is run."""
    app = application(url)
    projector, evaluating = followers(app)
    begun = time.perf_counter()
    events = candidates = claimed = 0
    while True:
        followed, evaluated = projector.follow(), evaluating.follow()
        events += evaluated.events
        candidates += evaluated.claimed.candidates
        claimed += len(evaluated.claimed.running) + len(evaluated.claimed.over)
        if not followed and not evaluated.events:
            break
    took = time.perf_counter() - begun
    facts = events - claimed
    return {"rate": facts / took, "events": events, "candidates": candidates, "claimed": claimed, "seconds": took}


def followers(app: Application) -> tuple[Projector, EvaluatingFollower]:
    """Return what a worker follows the log with."""
    log: EventLog = app.log
    zone, cache, pages = app.settings.default_zone, EntityCache(log.mapper), PageReader(log)
    return (
        Projector(log, projections(zone), cache=cache, pages=pages),
        EvaluatingFollower(log, app.clock, "benchmark", zone, cache=cache, pages=pages),
    )


PHASES: dict[str, Callable[[str, Path], Figures]] = {"raw": raw, "ingest": ingest, "follow": follow}


def measured(phase: str, url: str, path: Path) -> Figures:
    """Return the figures of one phase, run in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.spine", "--phase", phase, url, str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def run_phase(phase: str, url: str, path: Path) -> None:
    collect_rarely()  # as the command does
    figures = PHASES[phase](url, path)
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


def benchmark(kind: str, path: Path) -> None:
    with databases(kind) as made:
        with made.fresh() as url:
            limit = measured("raw", url, path)
        with made.fresh() as url:
            taken, followed = measured("ingest", url, path), measured("follow", url, path)
    print(f"\n{kind}")
    print(f"  raw insert         {limit['rate']:>9,.0f} events/s {limit['megabytes']:>6.0f} MB")
    print(f"  ingest             {taken['rate']:>9,.0f} events/s {taken['megabytes']:>6.0f} MB")
    print(
        f"  follow to trace    {followed['rate']:>9,.0f} events/s {followed['megabytes']:>6.0f} MB"
        f"   (target {TARGETS[kind]:,} events/s, 200 MB)"
    )
    share = followed["claimed"] / followed["candidates"]
    print(
        f"  {taken['lines']:,.0f} lines, {taken['accepted']:,.0f} recorded,"
        f" {followed['candidates']:,.0f} candidates, {followed['claimed']:,.0f} claimed ({share:.1%})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--on", choices=sorted(TARGETS), action="append")
    parser.add_argument("--phase", nargs=3, metavar=("PHASE", "URL", "FILE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.phase:
        phase, url, path = given.phase
        run_phase(phase, url, Path(path))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.jsonl"
        path.write_text("".join(f"{json.dumps(event)}\n" for event in history(given.events)))
        for kind in given.on or sorted(TARGETS, reverse=True):
            benchmark(kind, path)


if __name__ == "__main__":
    main()
