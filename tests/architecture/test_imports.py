"""What each package may use besides the standard library, as a list of what is allowed.

The contracts in `pyproject.toml` keep the diamond and name what is forbidden today; this list also
stops a library that is added tomorrow.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import PACKAGES, ROOT, Module, modules, plant

DOMAIN = {"domain", "pydantic", "pydantic_core", "annotated_types", "dateutil", "tzdata", "typing_extensions"}
ALLOWED = {
    "domain": DOMAIN,
    "automations": {*DOMAIN, "automations", "structlog", "liquid", "babel"},
    "projections": {*DOMAIN, "projections", "sqlalchemy"},
}
MAY_USE_EVENTSOURCING = (Path("adapters/database"), Path("tests/adapters/database"), Path("tests/contracts"))


def imports(module: Module) -> Iterator[tuple[int, str]]:
    """Give the line and the full name of each module that is imported."""
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module


def not_allowed(root: Path) -> list[str]:
    """Return the imports of what a package may not use."""
    return [
        f"{module.path}:{line}: {name}"
        for package, allowed in ALLOWED.items()
        for module in modules(root, (package,))
        for line, name in imports(module)
        if name.partition(".")[0] not in allowed | sys.stdlib_module_names
    ]


def eventsourcing_elsewhere(root: Path) -> list[str]:
    """Return the imports of the event sourcing library outside its two places."""
    return [
        f"{module.path}:{line}: {name}"
        for module in modules(root, (*PACKAGES, "tests"))
        for line, name in imports(module)
        if name.partition(".")[0] == "eventsourcing"
        and not any(module.path.is_relative_to(place) for place in MAY_USE_EVENTSOURCING)
    ]


@pytest.mark.parametrize("line", ["import requests", "from requests.sessions import Session", "import adapters"])
def test_a_library_that_nobody_allowed_is_found(line: str, tmp_path: Path) -> None:
    for package in ALLOWED:
        plant(tmp_path, f"{package}/broken.py", f"import os\n{line}")
    name = line.split()[1]
    assert not_allowed(tmp_path) == [f"{package}/broken.py:2: {name}" for package in ALLOWED]


def test_eventsourcing_is_found_where_it_should_not_be(tmp_path: Path) -> None:
    for path in (
        "adapters/database/log.py",
        "tests/contracts/test_log.py",
        "adapters/web.py",
        "tests/test_log.py",
    ):
        plant(tmp_path, path, "from eventsourcing.persistence import StoredEvent")
    found = [place.partition(":")[0] for place in eventsourcing_elsewhere(tmp_path)]
    assert found == ["adapters/web.py", "tests/test_log.py"]


def test_each_package_uses_what_it_may_use() -> None:
    assert not_allowed(ROOT) == []


def test_eventsourcing_stays_in_its_two_places() -> None:
    assert eventsourcing_elsewhere(ROOT) == []
