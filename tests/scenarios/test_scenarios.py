"""Every scenario file goes as it is written, on both databases: those of this folder, and those found beside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.scenarios.files import Written, read_files, run
from tests.architecture.tree import ROOT
from tests.databases import Databases

HERE = Path(__file__).parent
BESIDE = Path(os.environ.get("SEMEL_TEST_SCENARIOS", ROOT.parent / "shared" / "scenarios"))
"""Scenario files that belong to nobody's tests in particular; they are run where there are any."""


def written_in(folder: Path) -> list[Written]:
    """Return the scenarios of a folder, or none where there is no such folder."""
    return read_files([folder]) if folder.is_dir() else []


def named(written: Written) -> str:
    """Return a test's name for a scenario: its file, and what it says."""
    file = Path(written.document.source.name).stem
    return f"{file}: {written.scenario.name}"


@pytest.fixture(scope="module")
def url(databases: Databases) -> Iterator[str]:
    """A database in which each scenario gets a schema of its own; embedded ones get a file instead."""
    with databases.fresh(blank=True) as fresh:
        yield fresh


def goes_as_written(written: Written, url: str) -> None:
    """Fail with the differences, as somebody who runs the file sees them."""
    result = run(written, url)
    if not result.ok:
        pytest.fail("\n".join(result.lines()), pytrace=False)


@pytest.mark.parametrize("written", written_in(HERE), ids=named)
def test_a_scenario_goes_as_it_is_written(written: Written, url: str) -> None:
    goes_as_written(written, url)


@pytest.mark.slow
@pytest.mark.parametrize("written", written_in(BESIDE), ids=named)
def test_a_scenario_from_beside_goes_as_it_is_written(written: Written, url: str) -> None:
    goes_as_written(written, url)


def test_scenarios_from_beside_were_there() -> None:
    if not BESIDE.is_dir():
        pytest.skip("NO SCENARIO FILES BESIDE, so those were not run: set SEMEL_TEST_SCENARIOS to their folder")
    assert written_in(BESIDE)
