"""Reads the source tree, this one or a small one that a test makes."""

from __future__ import annotations

import ast
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("domain", "automations", "projections", "adapters")
MADE_BY_TOOLS = {"__pycache__", "build", "dist"}


@dataclass(frozen=True, slots=True)
class Module:
    """A source file: its path from the root of the tree, its text, and what Python reads in it."""

    path: Path
    text: str
    syntax: ast.Module

    @property
    def lines(self) -> list[str]:
        """Return the lines of the text."""
        return self.text.splitlines()


def modules(root: Path, folders: tuple[str, ...] = PACKAGES) -> Iterator[Module]:
    """Give each module under the folders, in the order of their names."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            yield Module(path.relative_to(root), text, ast.parse(text))


def plant(root: Path, path: str, text: str) -> None:
    """Write a file of a small tree."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(textwrap.dedent(text), encoding="utf-8")


def plant_packages(root: Path) -> None:
    """Make a small tree that keeps every rule."""
    plant(root, "pyproject.toml", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for package in (*PACKAGES, "tests"):
        plant(root, f"{package}/__init__.py", f'"""The package {package}."""\n')


def project_files(root: Path) -> list[Path]:
    """Return the files that belong to the project: those git would take, or all but what tools made."""
    listed = _listed_by_git(root)
    if listed is None:
        found = (path.relative_to(root) for path in root.rglob("*"))
        listed = [path for path in found if not any(map(_made_by_a_tool, path.parts[:-1]))]
    return sorted(path for path in listed if (root / path).is_file())


def _made_by_a_tool(folder: str) -> bool:
    return folder in MADE_BY_TOOLS or (folder.startswith(".") and folder != ".ci")


def _listed_by_git(root: Path) -> list[Path] | None:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if not (root / ".git").exists():
        return None
    try:
        answer = subprocess.run(command, cwd=root, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return [Path(name) for name in answer.stdout.decode().split("\0") if name]
