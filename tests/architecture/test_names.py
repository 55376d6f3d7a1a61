"""Names that say nothing are not given to modules, and the top of the tree stays as it is."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.tree import PACKAGES, ROOT, modules, plant, project_files

SAY_NOTHING = {"util", "utils", "common", "helper", "helpers", "core", "base", "manager", "managers", "misc"}
FOLDERS = {*PACKAGES, "tests", "docs"}
FILES = {
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "constraints.txt",
    "Makefile",
}


def say_nothing(root: Path) -> list[str]:
    """Return the modules and packages whose name says nothing."""
    paths = (module.path.with_suffix("") for module in modules(root, (*PACKAGES, "tests")))
    return [str(path) for path in paths if SAY_NOTHING.intersection(path.parts)]


def strangers(root: Path) -> set[str]:
    """Return what stands at the top of the tree and has no place there."""
    tops = {path.parts[0] for path in project_files(root)}
    return {top for top in tops - FOLDERS - FILES if not top.startswith(".") and not is_container_file(top)}


def is_container_file(name: str) -> bool:
    """Return whether a file describes how containers are built or run."""
    return name.startswith(("Dockerfile", "Containerfile", "compose"))


def test_names_that_say_nothing_are_found(tmp_path: Path) -> None:
    plant(tmp_path, "domain/utils.py", "")
    plant(tmp_path, "adapters/common/engine.py", "")
    plant(tmp_path, "automations/basement.py", "")
    assert say_nothing(tmp_path) == ["domain/utils", "adapters/common/engine"]


def test_what_has_no_place_at_the_top_is_found(tmp_path: Path) -> None:
    for path in ("scripts/run.py", "notes.txt", "README.md", "domain/rules.py", ".ci/run", "compose.yaml"):
        plant(tmp_path, path, "")
    assert strangers(tmp_path) == {"scripts", "notes.txt"}


def test_every_module_has_a_name_that_says_something() -> None:
    assert say_nothing(ROOT) == []


def test_the_top_of_the_tree_is_the_agreed_one() -> None:
    assert strangers(ROOT) == set()
