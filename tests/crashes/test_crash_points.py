"""Whatever point of its work the engine dies at, once or twice: started again, it ends as if it had not.

The one exception is a call whose service does not know a repeated key: it is in doubt, and never made again.
By default the process is killed at a sample of the points; `SEMEL_FULL=1` has it killed at all of them.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.points import Point
from tests.architecture.tree import ROOT
from tests.crashes.endings import End, settled
from tests.crashes.story import START, Counting, tell, teller
from tests.databases import Databases

FULL = bool(os.environ.get("SEMEL_FULL"))
PARTS = 8
"""Into so many tests the points are divided, so that they can run side by side."""

KEYLESS = "tasks.create"
COVERED = {
    *(f"{when} commit {of}" for when in ("before", "after") for of in ("ingest", "project", "evaluate", "tick")),
    *(f"{when} commit {of}" for when in ("before", "after") for of in ("watermark", "lease", "record", "serve")),
    *(f"{when} commit {of}" for when in ("before", "after") for of in ("rules", "lane", "probe", "dossier")),
    *(f"{when} call {of}" for when in ("before", "after") for of in ("billing.charge_fee", "access.grant", KEYLESS)),
}
"""What the story has to pass for these tests to say anything."""


class Died(BaseException):
    """The engine died. Nothing of ours may catch it."""


def die(point: Point) -> None:
    raise Died


@contextmanager
def stage(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Lend a database that is set up, and a folder for what lies outside of it."""
    folder = tmp_path_factory.mktemp("story")
    with databases.fresh(blank=True) as url:
        with teller(url, folder, START) as first:
            first.app.install()
        yield url, folder


@pytest.fixture(scope="module")
def undisturbed(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Point], End]:
    """The points of a telling that nothing disturbs, and its end."""
    counting = Counting()
    with stage(databases, tmp_path_factory) as (url, folder):
        tell(url, folder, counting)
        return counting.passed, settled(url, folder)


def told_dying(url: str, folder: Path, *deaths: int) -> None:
    """Tell the story and die at the n-th point of each telling, then tell it to its end."""
    for n in deaths:
        try:
            tell(url, folder, Counting(n, die))
        except Died:
            continue
        return
    tell(url, folder)


def told_killed(url: str, folder: Path, n: int) -> None:
    """Tell the story in a process that is killed at its n-th point, and then in another to its end."""
    command = [sys.executable, "-m", "tests.crashes.story", url, str(folder)]
    subprocess.run([*command, str(n)], cwd=ROOT, check=False, capture_output=True)
    last = subprocess.run([*command, "0"], cwd=ROOT, check=False, capture_output=True, text=True)
    assert last.returncode == 0, last.stderr


def in_doubt(points: list[Point], n: int) -> bool:
    """Say whether a death at the n-th point leaves a call open that must not be repeated."""
    calls = [number for number, point in enumerate(points, 1) if point == Point("before call", KEYLESS)]
    # From the commit that announces the call to the one that would record its answer.
    return any(call - 1 <= n <= call + 2 for call in calls)


def check(end: End, undisturbed: End, *, may_doubt: bool) -> list[str]:
    """Return what is not as it should be."""
    wrong = list(end.left)
    unlike = end.unlike(undisturbed)
    doubted = [run for run in unlike if end.statuses.get(run) == "unknown" and run[0] == "welcome"]
    wrong += [f"{run} ended {end.statuses.get(run)}" for run in unlike if not (may_doubt and run in doubted)]
    wrong += [f"{fact} was recorded {n} times" for fact, n in end.facts.items() if n > undisturbed.facts.get(fact, 0)]
    wrong += [f"{fact} is missing" for fact in undisturbed.facts.keys() - end.facts.keys()]
    for name, effects in end.effects.items():
        wrong += [f"{name} did {key} {n} times" for key, n in effects.items() if n > 1]
        if name != "tasks":
            wrong += [f"{name} did not do {key}" for key in undisturbed.effects[name].keys() - effects.keys()]
    wrong += [f"tasks was asked for {key} {n} times" for key, n in end.asked["tasks"].items() if n > 1]
    if len(end.open_dossiers) != len({run[0] for run in doubted}):
        wrong.append(f"{end.open_dossiers} are open")
    return wrong


def sample(points: list[Point], part: int, every: int) -> range:
    """Return the numbers of the points of one part, of which each n-th is taken."""
    return range(1 + part * every, len(points) + 1, PARTS * every)


def test_the_story_passes_every_kind_of_point(undisturbed: tuple[list[Point], End]) -> None:
    points, end = undisturbed
    assert {f"{point.when} {point.of}" for point in points} >= COVERED
    assert set(end.statuses.values()) == {"done"}
    assert check(end, end, may_doubt=False) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_an_engine_that_dies_once_ends_as_if_it_had_not(
    part: int,
    undisturbed: tuple[list[Point], End],
    databases: Databases,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    points, expected = undisturbed
    wrong = {}
    for n in sample(points, part, 1 if FULL or "sqlite" in request.node.name else 6):
        with stage(databases, tmp_path_factory) as (url, folder):
            told_dying(url, folder, n)
            found = check(settled(url, folder), expected, may_doubt=in_doubt(points, n))
            if found:
                wrong[n, points[n - 1]] = found
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40 if FULL else 4))
def test_an_engine_that_dies_twice_ends_as_if_it_had_not(
    seed: int,
    undisturbed: tuple[list[Point], End],
    databases: Databases,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The second time it is about to put right what the first one has left."""
    points, expected = undisturbed
    chance = random.Random(seed)
    deaths = chance.randint(1, len(points)), chance.randint(1, 25)
    with stage(databases, tmp_path_factory) as (url, folder):
        told_dying(url, folder, *deaths)
        assert check(settled(url, folder), expected, may_doubt=True) == [], f"died at {deaths}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS if FULL else 3))
def test_a_process_that_is_killed_ends_as_if_it_had_not(
    part: int,
    undisturbed: tuple[list[Point], End],
    databases: Databases,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    points, expected = undisturbed
    wrong = {}
    for n in sample(points, part, 1) if FULL else [random.Random(part).randint(1, len(points))]:
        with stage(databases, tmp_path_factory) as (url, folder):
            told_killed(url, folder, n)
            found = check(settled(url, folder), expected, may_doubt=in_doubt(points, n))
            if found:
                wrong[n, points[n - 1]] = found
    assert wrong == {}
