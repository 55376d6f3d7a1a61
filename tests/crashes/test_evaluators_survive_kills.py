"""Two evaluators at once, killed at random and started again: what fell due is done, once each.

By default that is done once; `SEMEL_FULL=1` makes it twenty times.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT
from tests.databases import Databases
from tests.operators import BOOKING, NOON, operator_on, rule, scene
from tests.operators import event as told

REPETITIONS = 20 if os.environ.get("SEMEL_FULL") else 1
ITEMS = {"postgresql": 1_000, "sqlite": 300}
DUE = NOON + timedelta(days=1)
KILLS = 5
PATIENCE = 300.0


def let_fall_due(url: str, items: int) -> None:
    """Record so many bookings of which each is due for one rule, and let ticks come close to that."""
    starts = DUE + timedelta(hours=24)
    span = {"starts_at": starts.isoformat(), "ends_at": (starts + timedelta(hours=1)).isoformat()}
    with operator_on(url, at=DUE - timedelta(hours=2)) as operator:
        operator.save(rule("remind", "booking.starting", "resource.kind is meeting_room", before="24 hours"))
        bookings = (told("booking.created", {**BOOKING, "booking_id": f"b{n:04d}", **span}) for n in range(items))
        operator.record(*scene(), *bookings)
        worker = operator.app.worker()
        worker.work_until_idle()
        worker.tick()


def start(url: str, folder: Path, items: int, seed: int) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "tests.crashes.evaluator",
        url,
        str(folder),
        DUE.isoformat(),
        str(items),
        str(seed),
    ]
    return subprocess.Popen(command, cwd=ROOT)


def race(url: str, folder: Path, items: int, chance: random.Random) -> int:
    """Let two evaluators work, kill one or the other now and then, and return how many were killed."""
    pair = [start(url, folder, items, chance.randrange(10**6)) for _ in range(2)]
    killed = 0
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.2, 2.0))
        which = chance.randrange(2)
        if pair[which].poll() is None:
            pair[which].kill()
            killed += 1
        pair[which].wait()
        pair[which] = start(url, folder, items, chance.randrange(10**6))
    assert [process.wait(timeout=PATIENCE) for process in pair] == [0, 0]
    return killed


@pytest.mark.slow
@pytest.mark.parametrize("repetition", range(REPETITIONS))
def test_what_falls_due_is_done_once_each(repetition: int, databases: Databases, tmp_path: Path) -> None:
    with databases.fresh(blank=True) as url:
        items = ITEMS["sqlite" if url.startswith("sqlite") else "postgresql"]
        let_fall_due(url, items)
        assert race(url, tmp_path, items, random.Random(repetition)) > 0
        with operator_on(url, at=DUE) as operator:
            topics = operator.topics()
            assert operator.statuses() == [("remind", "done")] * items
        calls = (tmp_path / "calls").read_text().split()
        assert topics.count("execution.started") == topics.count("task.opened") == len(set(calls)) == items
