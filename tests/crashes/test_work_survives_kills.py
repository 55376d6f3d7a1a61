"""`semel work` raced, repeated and killed at random moments: the same executions, once each, with one effect each.

By default six processes are killed; `SEMEL_FULL=1` makes it fifty, over a history that is as much longer.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from adapters.ingestion.batches import ingest
from domain.executions import ActionDone
from domain.facts import Fact
from domain.notifications import DeliveryRequested
from tests.architecture.tree import ROOT
from tests.databases import Databases
from tests.history import history
from tests.operators import ZONE, Operator, operator_on
from tests.rules import rules

KILLS = 50 if os.environ.get("SEMEL_FULL") else 6
RACERS = 3
SEED = 20260512
WORK = "from adapters.cli.main import run; run()"
QUICKLY = {"SEMEL_LEASE_SECONDS": "0.5", "SEMEL_POLL_SECONDS": "0.1", "SEMEL_DEFAULT_ZONE": ZONE}

End = dict[str, Any]


@contextmanager
def recorded(databases: Databases, events: int) -> Iterator[str]:
    """Lend a database with rules and a history that nobody has looked at."""
    with databases.fresh(blank=True) as url:
        with operator_on(url) as operator:
            operator.app.save_rules([(rule, True) for rule in rules()], by="test")
            answers = ingest(operator.app, history(events, members=40, resources=8, spaces=2))
            assert all(answer.is_good for answer in answers)
        yield url


def start(url: str) -> subprocess.Popen[bytes]:
    """Start `semel work --until-idle`."""
    command = [sys.executable, "-c", WORK, "work", "--until-idle", "--database", url]
    return subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **QUICKLY}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def finish(*processes: subprocess.Popen[bytes]) -> None:
    """Wait until all have ended, and well."""
    for process in processes:
        _, told = process.communicate(timeout=600)
        assert process.returncode == 0, told.decode()


def end(url: str) -> End:
    """Return what everything came to, without instants and without how often it had to be tried."""
    with operator_on(url) as operator:
        return {
            "runs": Counter((run["rule"], run["entity"], run["occasion"], run["status"]) for run in operator.runs()),
            "effects": Counter(effects(operator)),
            "done": Counter(done(operator)),
        }


def effects(operator: Operator) -> Iterator[tuple[str, str]]:
    """Return the source and the idempotency key of everything that a service did."""
    for event in operator.events():
        if isinstance(event, Fact) and event.source.startswith("semel/"):
            yield event.source, event.id
        elif isinstance(event, DeliveryRequested):
            yield "semel/notifications", event.idempotency_key


def done(operator: Operator) -> Iterator[str]:
    """Return the idempotency key of every action that ended done."""
    for event in operator.events():
        if isinstance(event, ActionDone) and event.ending.kind == "done":
            yield event.idempotency_key


def undisturbed(databases: Databases, events: int) -> End:
    with recorded(databases, events) as url:
        finish(start(url))
        return end(url)


def assert_once(found: End, expected: End) -> None:
    assert set(found["runs"].values()) == {1}
    assert set(found["effects"].values()) == {1}
    assert set(found["done"].values()) == {1}
    assert found == expected


def test_workers_that_race_repeat_and_start_again_run_everything_once(databases: Databases) -> None:
    events = 500
    expected = undisturbed(databases, events)
    assert len(expected["effects"]) > 80
    with recorded(databases, events) as url:
        finish(*(start(url) for _ in range(RACERS)))
        assert_once(end(url), expected)
        finish(*(start(url) for _ in range(2)))
        assert_once(end(url), expected)


@pytest.mark.slow
def test_a_worker_killed_again_and_again_ends_as_if_it_had_not_been(databases: Databases) -> None:
    chance = random.Random(SEED)
    events = 150 * KILLS
    expected = undisturbed(databases, events)
    with recorded(databases, events) as url:
        killed = sum(kill(start(url), chance.uniform(0.5, 4.0)) for _ in range(KILLS))
        finish(start(url))
        assert_once(end(url), expected)
    assert killed > KILLS // 2, "most of the workers were done before they could be killed"


def kill(process: subprocess.Popen[bytes], after: float) -> bool:
    """Kill a process after so many seconds; say whether it still ran."""
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    assert process.returncode == 0
    return False
