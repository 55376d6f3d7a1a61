"""Style, formatting, types and the import rule, each judged by its own tool."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, plant, plant_packages

LINT_IMPORTS = str(Path(sysconfig.get_path("scripts")) / "lint-imports")
TOOLS = {
    "style": [sys.executable, "-m", "ruff", "check", "--output-format=concise"],
    "format": [sys.executable, "-m", "ruff", "format", "--check", "--diff"],
    "types": [sys.executable, "-m", "mypy", "--strict"],
    "imports": [LINT_IMPORTS, "--no-cache"],
}
HEADER = '"""Breaks a rule."""\n\nfrom __future__ import annotations\n\n'
BREAKS = {
    "style": ("domain/broken.py", HEADER + "import os\n"),
    "format": ("domain/broken.py", HEADER + "ONE = 'single quotes'\n"),
    "types": ("domain/broken.py", HEADER + "def untyped(value):\n    return value\n"),
    "imports": ("domain/broken.py", HEADER + "import adapters.broken\n"),
}


def judged(tool: str, root: Path) -> tuple[bool, str]:
    """Run a tool on a tree, and return whether it is content, and what it said."""
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "MYPYPATH"}}
    answer = subprocess.run(TOOLS[tool], cwd=root, env=environment, capture_output=True, text=True, check=False)
    return answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_the_tool_finds_what_breaks_its_rule(tool: str, tmp_path: Path) -> None:
    plant_packages(tmp_path)
    plant(tmp_path, "adapters/broken.py", HEADER + "import psycopg\n\nADAPTER = psycopg\n")
    plant(tmp_path, *BREAKS[tool])
    content, said = judged(tool, tmp_path)
    assert not content
    assert re.search(r"domain[/.\\]broken", said)


@pytest.mark.parametrize(
    ("module", "imported", "contract"),
    [
        ("domain/broken.py", "automations", "The four packages form a diamond"),
        ("automations/broken.py", "projections", "The four packages form a diamond"),
        ("projections/broken.py", "automations", "The four packages form a diamond"),
        ("automations/broken.py", "adapters", "The four packages form a diamond"),
        ("domain/broken.py", "sqlalchemy", "domain has no doors to the outside"),
        ("automations/broken.py", "sqlalchemy", "automations add structlog, liquid and babel"),
        ("projections/broken.py", "liquid", "projections add SQLAlchemy"),
        (
            "adapters/broken.py",
            "eventsourcing.persistence",
            "eventsourcing is used in adapters.database alone",
        ),
    ],
)
def test_each_contract_of_the_import_rule_bites(module: str, imported: str, contract: str, tmp_path: Path) -> None:
    plant_packages(tmp_path)
    plant(tmp_path, module, f"{HEADER}import {imported}\n")
    content, said = judged("imports", tmp_path)
    assert not content
    assert f"{contract} BROKEN" in said


@pytest.mark.parametrize("tool", TOOLS)
def test_the_tree_passes(tool: str) -> None:
    content, said = judged(tool, ROOT)
    if not content:
        pytest.fail(said, pytrace=False)
