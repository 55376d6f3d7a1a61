"""How fast requests to tell somebody are taken in, in batches, each committed before it is answered.

`python -m tests.benchmarks.notifications` prints rates on SQLite and on a durable PostgreSQL: new requests, and
the same ones again. The target is 2,000 new ones a second on PostgreSQL.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from adapters.application import Application
from adapters.ingestion.cloud_events import read_event
from adapters.settings import read_settings
from tests.benchmarks.spine import databases

REQUESTS = 20_000
MEMBERS = 2_000
BATCH = 500
TARGET = 2_000
KINDS = ("postgresql", "sqlite")


def requests(count: int) -> list[dict[str, Any]]:
    """Return requests with a small payload, to members in turn."""
    return [
        {
            "idempotency_key": f"booking-{number}-confirmed",
            "recipient": f"member/m{number % MEMBERS}",
            "type": "ready.reminders",
            "entity": f"booking/b{number}",
            "payload": {"name": f"Member {number % MEMBERS}", "seats": [number, number + 1], "price": "18.50 EUR"},
        }
        for number in range(count)
    ]


def members(app: Application) -> None:
    """Make the recipients known."""
    events = [
        read_event(
            {
                "id": f"e{number}",
                "source": "benchmark",
                "type": "member.registered",
                "time": app.clock.now().isoformat(),
                "data": {"member_id": f"m{number}", "name": f"Member {number}", "email": f"m{number}@example.org"},
            }
        )
        for number in range(MEMBERS)
    ]
    recorder = app.recorder()
    for start in range(0, MEMBERS, BATCH):
        app.record(recorder, events[start : start + BATCH])


def taken_in(app: Application, wanted: list[dict[str, Any]], status: str) -> float:
    """Return how many requests were answered each second; all must end alike."""
    door = app.notification_door()
    begun = time.perf_counter()
    for start in range(0, len(wanted), BATCH):
        outcomes = door.request_many("benchmark", wanted[start : start + BATCH])
        assert {outcome.status for outcome in outcomes} == {status}
    return len(wanted) / (time.perf_counter() - begun)


def benchmark(kind: str, count: int) -> None:
    """Print the rates on one kind of database."""
    with databases(kind) as made, made.fresh() as url:
        app = Application(read_settings(database_url=url, default_zone="Europe/Berlin"))
        app.install()
        members(app)
        wanted = requests(count)
        new, again = taken_in(app, wanted, "accepted"), taken_in(app, wanted, "replayed")
        app.close()
    target = f"   (target {TARGET:,}/s)" if kind == "postgresql" else ""
    print(f"\n{kind}, {count:,} requests in batches of {BATCH}")
    print(f"  new       {new:>9,.0f}/s{target}")
    print(f"  repeated  {again:>9,.0f}/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--on", choices=KINDS, action="append")
    given = parser.parse_args()
    for kind in given.on or KINDS:
        benchmark(kind, given.requests)


if __name__ == "__main__":
    main()
