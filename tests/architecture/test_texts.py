"""No file of the project holds what belongs to one machine, and the pins name no place to get them from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, plant, project_files

# One letter of each stands in brackets, so that this file does not hold what it looks for.
BELONGS_TO_A_MACHINE = re.compile(
    r"""
      [p]ypi\.(?:org|python\.org) | [p]ythonhosted | [a]naconda\.org | [r]egistry\.(?:npmjs|yarnpkg)
    | --?(?:extra-)?[i]ndex-url | --?[f]ind-links
    | (?<![\w.~*-])/(?:home|root|Users|work|tmp|mnt|farm|builds?|opt/(?!homebrew))/
    | [A-Z]:\\[U]sers\\
    """,
    re.VERBOSE,
)
PIN = re.compile(r"[a-z0-9.-]+==[0-9][\w.!+]*(?: ; .+)?")


def machine_texts(root: Path) -> list[str]:
    """Return the lines that hold something of a machine."""
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path in project_files(root)
        for number, line in enumerate(text_of(root / path).splitlines(), 1)
        if BELONGS_TO_A_MACHINE.search(line)
    ]


def text_of(path: Path) -> str:
    """Return the text of a file; a binary one has none."""
    content = path.read_bytes()
    return "" if b"\0" in content else content.decode("utf-8", errors="replace")


@pytest.mark.parametrize(
    "bracketed",
    [
        "https://[p]ypi.org/simple",
        "files.[p]ythonhosted.org",
        "pip install --extra-[i]ndex-url there",
        "cd /[h]ome/somebody/semel",
        "cache = '/[t]mp/semel.db'",
        "path=/[w]ork/main",
        "C:\\[U]sers\\Ana",
    ],
)
def test_what_belongs_to_a_machine_is_found(bracketed: str, tmp_path: Path) -> None:
    line = bracketed.replace("[", "").replace("]", "")
    plant(tmp_path, "docs/how-to/install.md", f"first\n{line}\n")
    assert [found.partition(": ")[0] for found in machine_texts(tmp_path)] == ["docs/how-to/install.md:2"]


@pytest.mark.parametrize(
    "line", ["GET /v1/events", "https://example.org/work/", "/usr/lib/postgresql/*/bin", "a/home/b"]
)
def test_other_paths_are_free(line: str, tmp_path: Path) -> None:
    plant(tmp_path, "README.md", line)
    assert machine_texts(tmp_path) == []


def test_no_file_of_the_project_holds_what_belongs_to_a_machine() -> None:
    assert machine_texts(ROOT) == []


def test_each_line_of_the_constraints_is_a_pin_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not PIN.fullmatch(line)] == []
