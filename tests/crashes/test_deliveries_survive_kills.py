"""The dispatcher is killed at the numbered points of its work: nothing is lost, and no message is sent twice.

By default it has a few deliveries and is killed at a sample of the points; `SEMEL_FULL=1` makes it a thousand, and
ten times as many kills.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.database.engine import reading
from projections.deliveries import counted
from tests.crashes.deliverer import AT_A_TIME, Provider, ask, opened, work
from tests.databases import Databases

FULL = bool(os.environ.get("SEMEL_FULL"))
DELIVERIES = 1_000 if FULL else 12
KILLS = 60 if FULL else 4
COVERED = {
    *(f"{when} commit {of}" for when in ("before", "after") for of in ("expand", "deliver")),
    *(f"{when} call email" for when in ("before", "after")),
}
"""What has to be passed for these tests to say anything."""

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.crashes.deliverer"])


@contextmanager
def asked(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Lend a database in which deliveries wait, and a folder for what lies outside of it."""
    with databases.fresh() as url:
        ask(url, DELIVERIES)
        yield url, tmp_path_factory.mktemp("provider")


def run(url: str, folder: Path, *, honours_keys: bool, killed_at: int = 0) -> int | None:
    """Deliver in a process of its own, and return with what code it ended."""
    process = processes.Process(target=work, args=(url, str(folder), honours_keys, killed_at))
    process.start()
    process.join()
    return process.exitcode


def chosen(points: list[str]) -> list[int]:
    """Return the numbers of the points at which to kill: the first of each kind, and others at even distances."""
    firsts = {points.index(kind) + 1 for kind in points}
    step = max(1, len(points) // KILLS)
    return sorted(firsts | set(range(step, len(points) + 1, step)))


def statuses(url: str) -> dict[str, int]:
    app = opened(url)
    app.worker().work_until_idle()
    with reading(app.engine) as connection:
        found = counted(connection)
    app.close()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("honours_keys", [True, False], ids=["with-keys", "without-keys"])
def test_a_dispatcher_killed_at_any_point_loses_and_repeats_nothing(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory, honours_keys: bool
) -> None:
    """Trials A5 and A6: no row is lost, and none goes out twice, whichever moment the signal comes in."""
    with asked(databases, tmp_path_factory) as (url, folder):
        assert run(url, folder, honours_keys=honours_keys) == 0
        points = (folder / "points").read_text().splitlines()
        assert statuses(url) == {"sent": DELIVERIES}
    assert set(points) >= COVERED
    doubts = Counter[str]()
    for number in chosen(points):
        with asked(databases, tmp_path_factory) as (url, folder):
            assert run(url, folder, honours_keys=honours_keys, killed_at=number) == -signal.SIGKILL
            assert run(url, folder, honours_keys=honours_keys) == 0
            doubts[points[number - 1]] += check(url, folder, honours_keys=honours_keys)
    print(f"{DELIVERIES} deliveries, {len(points)} points, {len(chosen(points))} kills, in doubt after: {dict(doubts)}")
    assert honours_keys or doubts["before call email"], "no kill left anything in doubt"


def check(url: str, folder: Path, *, honours_keys: bool) -> int:
    """Check what came of all, and return how many are in doubt."""
    provider, found = Provider(folder, honours_keys=honours_keys), Counter(statuses(url))
    asked_for, sent = Counter(provider.lines("asked")), Counter(provider.lines("sent"))
    assert set(sent.values()) == {1}, "a message was sent twice"
    if honours_keys:
        assert len(sent) == DELIVERIES
        assert found == {"sent": DELIVERIES}
    else:
        assert set(asked_for.values()) == {1}, "a call was repeated"
        assert found["sent"] + found["unknown"] == DELIVERIES
        assert found["unknown"] <= AT_A_TIME
        assert len(sent) >= found["sent"]
    return found["unknown"]
