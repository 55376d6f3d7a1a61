"""`semel work`: until nothing is left, until somebody stops it, and what became of workers that vanished."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.application import Application
from adapters.settings import read_settings
from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, booking, no_show, write_lines, write_rules

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def url(semel: Semel, folder: Path, database_url: str) -> str:
    """A database with rules and events that nobody has worked on."""
    semel("init", "--database", database_url)
    semel("apply", write_rules(folder), "--database", database_url)
    name = write_lines(folder / "e.jsonl", *WORLD, *map(booking, range(1, 6)), no_show(3), no_show(3, again=1))
    semel("ingest", name, "--database", database_url)
    return database_url


def runs(semel: Semel, url: str) -> list[dict[str, Any]]:
    return objects(semel("runs", "--json", "--database", url))


def test_working_until_idle_says_what_came_of_it(semel: Semel, url: str) -> None:
    told = semel("work", "--until-idle", "--database", url).stdout
    assert "7 candidates found" in told
    assert "runs: 4 done" in told
    assert "kept from repeating: 1 · conditions said no: 2" in told


def test_working_again_does_nothing_again(semel: Semel, url: str) -> None:
    semel("work", "--until-idle", "--database", url)
    before = runs(semel, url)
    assert "runs: none" in semel("work", "--until-idle", "--database", url).stdout
    assert runs(semel, url) == before


def claimed_by_another(url: str) -> int:
    """Let a worker claim everything, and vanish before it runs anything."""
    application = Application(read_settings(database_url=url))
    worker: Any = application.worker()
    worker._projector.catch_up()
    claimed = 0
    while (evaluated := worker._evaluating.follow()).events:
        claimed += len(evaluated.claimed.running)
        worker._projector.catch_up()
    application.close()
    return claimed


def test_runs_of_a_worker_that_vanished_are_waited_for_and_taken_over(
    semel: Semel, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert claimed_by_another(url) == 4
    monkeypatch.setenv("SEMEL_LEASE_SECONDS", "1")
    monkeypatch.setenv("SEMEL_POLL_SECONDS", "0.1")
    result = semel("work", "--until-idle", "--database", url)
    assert "4 runs are in the hands of another worker; if it is gone, they are taken over within 1 s" in result.stderr
    assert [run["status"] for run in runs(semel, url)] == ["done"] * 4


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_a_worker_when_it_has_finished_what_it_runs(
    semel: Semel, folder: Path, url: str, real_semel: Start, number: signal.Signals
) -> None:
    process = real_semel("work", "--database", url, SEMEL_POLL_SECONDS="0.1")
    wait_until(lambda: count_done(semel, url) == 4, process)
    semel("ingest", write_lines(folder / "more.jsonl", booking(9)), "--database", url)
    wait_until(lambda: count_done(semel, url) == 5, process)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"{number.name}: finishing what is being run" in error
    assert "5 done" in out


def test_a_killed_worker_is_made_up_for_by_the_next(semel: Semel, url: str, real_semel: Start) -> None:
    process = real_semel("work", "--until-idle", "--database", url)
    wait_until(lambda: bool(runs(semel, url)) or process.poll() == 0, process)
    process.kill()
    process.communicate(timeout=60)
    later = real_semel("work", "--until-idle", "--database", url, SEMEL_LEASE_SECONDS="1", SEMEL_POLL_SECONDS="0.1")
    _, error = later.communicate(timeout=120)
    assert later.returncode == 0, error
    assert [run["status"] for run in runs(semel, url)] == ["done"] * 4


def count_done(semel: Semel, url: str) -> int:
    return sum(1 for run in runs(semel, url) if run["status"] == "done")


def wait_until(reached: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for another process; what it waits for is not time but work."""
    for _ in range(300):
        if reached():
            return
        if process.poll() not in (None, 0):
            break
        time.sleep(0.1)
    process.kill()
    pytest.fail(f"the process did not get there: {process.communicate()}")
