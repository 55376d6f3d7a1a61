"""Calls the command in a folder of the test, and puts the logging back that it sets up."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import structlog
from typer.testing import CliRunner, Result

from adapters.cli.main import app

Semel = Callable[..., Result]
"""Calls the command with arguments; `exits` is the exit code that it must have."""

ROOT = Path(__file__).parents[3]
CALL = "from adapters.cli.main import run; run()"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which the command is called; no setting of the machine reaches it."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SEMEL_")]:
        monkeypatch.delenv(name)
    before, handlers = structlog.get_config(), logging.getLogger().handlers[:]
    yield tmp_path
    structlog.configure(**before)
    logging.getLogger().handlers[:] = handlers


def call(*arguments: str, exits: int = 0, given: str | bytes | None = None) -> Result:
    """Call the command in this process; it must end with this exit code."""
    result = CliRunner().invoke(app, list(arguments), input=given)
    assert result.exit_code == exits, f"{result.exit_code}\n{result.output}\n{result.exception!r}"
    return result


@pytest.fixture
def semel() -> Semel:
    """The command, called in this process, in the folder of the test."""
    return call


@pytest.fixture
def real_semel(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """The command as a process of its own."""
    with ExitStack() as stack:

        def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
            process = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", CALL, *arguments],
                    cwd=folder,
                    env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
                    text=True,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            )
            stack.callback(process.kill)
            return process

        yield start


def objects(result: Result) -> list[dict[str, Any]]:
    """Return the array that a command printed."""
    found: list[dict[str, Any]] = json.loads(result.stdout)
    assert isinstance(found, list)
    return found
