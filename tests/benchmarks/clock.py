"""What a tick costs: with nothing due, however much is stored, and with many things due at once.

`python -m tests.benchmarks.clock` prints times and rates on SQLite and on a durable PostgreSQL. Each figure
comes from a process of its own, on a database with a thousand rules.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from adapters.application import Application
from adapters.clock import SimulatedClock
from adapters.database.bulk import insert_rows
from adapters.database.engine import writing
from adapters.ingestion.cloud_events import read_event
from adapters.settings import read_settings
from automations.authoring import read_rules
from projections.moments import microseconds, moment_zones, moments
from tests.history import ZONES

STORED, FEW = 1_000_000, 10_000
RULES = 1_000
DUE = 10_000
BATCH = 500
IDLE_TARGET, RATE_TARGET, FLAT_TARGET = 10.0, 6_000, 1.5

BEGIN = datetime(2026, 5, 4, 6, 0, tzinfo=UTC)
LEAD = timedelta(hours=36)
"""How long before their start the measured bookings are due."""

Event = dict[str, Any]
Figures = dict[str, float]

TRIGGERS = {
    "booking.starting": ("before", "minutes", "hours", "days", "days at"),
    "booking.ending": ("before", "minutes", "hours"),
    "booking.ended": ("after", "minutes", "hours", "days", "days at"),
    "invoice.due": ("before", "days", "days at", "weeks"),
    "invoice.overdue": ("after", "days", "days at", "weeks", "hours"),
    "subscription.expiring": ("before", "weeks", "months", "days at"),
    "subscription.ended": ("after", "days", "weeks"),
}


def written_rules(most: int) -> Iterator[Event]:
    """Yield so many rules as an author writes them, of all clock triggers and kinds of offset; one is measured."""
    task = [{"create_task": {"title": "{{ member.name }} at {{ booking.starts_at }}"}}]
    where = ["resource.kind is meeting_room", "booking.attendees at least 2"]
    yield {"id": "measured", "when": "booking.starting", "before": "36 hours", "where": where, "do": task}
    kinds = [(when, direction, unit) for when, (direction, *units) in TRIGGERS.items() for unit in units]
    for number in range(1, most):
        when, direction, unit = kinds[number % len(kinds)]
        name, _, clock = unit.partition(" ")
        amount = 40 + number % (20 if name in {"weeks", "months"} else 300)
        offset = f"{amount if name != 'months' else amount % 5 + 1} {name}"
        offset += f" at {8 + number % 9:02d}:{number % 60:02d}" if clock else ""
        yield {"id": f"rule-{number}", "when": when, direction: offset, "do": [{"create_task": {"title": "Look"}}]}


def application(url: str, at: datetime = BEGIN) -> Application:
    return Application(read_settings(database_url=url, default_zone=ZONES[0]), clock=SimulatedClock(at))


def prepare(url: str, stored: int, due: int) -> Figures:
    """Set a database up: rules, as many bookings as will be due, and moments far away from any rule."""
    app = application(url)
    app.install()
    app.save_rules([(each.rule, each.enabled) for each in read_rules(list(written_rules(RULES)))], by="benchmark")
    store_far_moments(app, stored)
    record(app, list(events(due)))
    worker = app.worker()
    worker.tick()
    return {"stored": stored + 3 * due}


def store_far_moments(app: Application, most: int) -> None:
    """Fill the index with moments that no rule is due by for years."""
    kinds = list(TRIGGERS)
    far = BEGIN + timedelta(days=5 * 365)
    with writing(app.engine) as connection:
        columns = [moments.c[name] for name in ("entity", "trigger", "instant", "wall", "zone", "space")]
        rows = (far_moment(number, kinds[number % len(kinds)], far) for number in range(most))
        insert_rows(connection, columns, rows)
        insert_rows(connection, [moment_zones.c.zone], [(zone,) for zone in ZONES])
        connection.exec_driver_sql("ANALYZE")


def far_moment(number: int, trigger: str, far: datetime) -> tuple[object, ...]:
    shift = timedelta(minutes=7 * (number % 500_000), days=-4000 if number % 2 else 0)
    at = microseconds(far + shift)
    zone = number % len(ZONES)
    return f"{trigger.partition('.')[0]}/far{number}", trigger, at, at + 7_200_000_000, ZONES[zone], f"space/s{zone}"


def events(due: int) -> Iterator[Event]:
    """Yield the places, the members, and bookings of which one after the other will be due within a minute."""
    for number, zone in enumerate(ZONES):
        space = {"space_id": f"s{number}", "name": f"House {number}", "time_zone": zone, "currency": "EUR"}
        yield event("space.opened", **space)
    for number in range(40):
        place = {"resource_id": f"r{number}", "space_id": f"s{number % len(ZONES)}", "name": f"Room {number}"}
        yield event("resource.added", **place, kind="meeting_room")
    for number in range(500):
        yield event("member.registered", member_id=f"m{number}", name=f"Member {number}")
    for number in range(due):
        starts = BEGIN + timedelta(minutes=2) + LEAD + timedelta(seconds=60 * number / due)
        yield event(
            "booking.created",
            booking_id=f"b{number}",
            resource_id=f"r{number % 40}",
            member_id=f"m{number % 500}",
            starts_at=starts.isoformat(),
            ends_at=(starts + timedelta(hours=2)).isoformat(),
            attendees=2 + number % 9,
        )


def event(kind: str, /, **data: Any) -> Event:
    event.number += 1  # type: ignore[attr-defined]
    at = BEGIN - timedelta(days=1)
    return {"id": f"e{event.number:07d}", "source": "bench", "type": kind, "time": at.isoformat(), "data": data}  # type: ignore[attr-defined]


event.number = 0  # type: ignore[attr-defined]


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
    app = application(url, BEGIN + timedelta(minutes=4))
    ticker = app.worker()._ticker
    claimed = 0
    begun = time.perf_counter()
    for page in ticker.tick():
        claimed += len(page.running)
    took = time.perf_counter() - begun
    return {"claimed": claimed, "rate": claimed / took, "seconds": took}


def memory(url: str, _: int, __: int) -> Figures:
    """Return how much memory such a tick holds at most, beyond what the process has anyway."""
    app = application(url, BEGIN + timedelta(minutes=4))
    ticker = app.worker()._ticker
    tracemalloc.start()
    claimed = sum(len(page.running) for page in ticker.tick())
    return {"claimed": claimed, "peak": tracemalloc.get_traced_memory()[1] / 1_000_000}


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


def benchmark(kind: str, stored: int, many: int) -> None:
    with databases(kind) as made:
        with made.fresh() as url:
            measured("prepare", url, FEW, many // 4)
            few, little = measured("idle", url), measured("memory", url)
        with made.fresh() as url:
            held = measured("prepare", url, stored, many)["stored"]
            full, found = measured("idle", url), measured("due", url)
        with made.fresh() as url:
            measured("prepare", url, FEW, many)
            much = measured("memory", url)
    print(f"\n{kind}: {RULES:,} rules, {held:,.0f} moments stored")
    for name, told in (("again", "nothing due"), ("news", "nothing due, after news"), ("first", "first of a process")):
        ratio = full[name] / few[name]
        print(f"  {told:<24} {full[name]:>9.2f} ms   {ratio:>5.2f} × that of {FEW:,} stored")
    print(f"  (targets {IDLE_TARGET:.0f} ms and {FLAT_TARGET} ×; the slowest of a hundred took {full['worst']:.2f} ms)")
    print(f"  {found['claimed']:,.0f} found, checked, claimed {found['rate']:>9,.0f} /s   (target {RATE_TARGET:,} /s)")
    print(f"  memory of a tick {much['peak']:.1f} MB for {much['claimed']:,.0f}, {little['peak']:.1f} MB for a quarter")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stored", type=int, default=STORED)
    parser.add_argument("--due", type=int, default=DUE)
    parser.add_argument("--on", choices=("sqlite", "postgresql"), action="append")
    parser.add_argument("--phase", nargs=4, metavar=("PHASE", "URL", "STORED", "DUE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.phase:
        phase, url, stored, many = given.phase
        run_phase(phase, url, int(stored), int(many))
        return
    for kind in given.on or ("sqlite", "postgresql"):
        benchmark(kind, given.stored, given.due)


if __name__ == "__main__":
    main()
