"""The clock is read in one file, so that every decision can be made again at any instant."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, Module, modules, plant

THE_ONE_FILE = Path("adapters/clock.py")
READINGS = frozenset(
    {
        *(f"time.{name}" for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")),
        *(f"time.{name}_ns" for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")),
        *(f"time.{name}" for name in ("clock_gettime", "clock_gettime_ns", "localtime", "gmtime", "ctime")),
        *(f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")),
        "datetime.date.today",
        "uuid.uuid1",
        *(f"sqlalchemy.func.{name}" for name in ("now", "current_timestamp", "clock_timestamp", "localtimestamp")),
        *(f"sqlalchemy.func.{name}" for name in ("current_date", "current_time", "statement_timestamp")),
        *(f"sqlalchemy.func.{name}" for name in ("transaction_timestamp", "julianday", "unixepoch")),
    }
)


def readings(module: Module) -> Iterator[str]:
    """Give the place and name of each reading of the clock, called or handed on."""
    names = dict(imported_names(module.syntax))
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Attribute | ast.Name) and dotted(node, names) in READINGS:
            yield f"{module.path}:{node.lineno}: {dotted(node, names)}"


def imported_names(syntax: ast.Module) -> Iterator[tuple[str, str]]:
    """Give each name that imports bind, with the dotted name of what it means."""
    for node in ast.walk(syntax):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """Return the full dotted name of an expression, or nothing if it is no such name."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value, names)):
        return f"{owner}.{node.attr}"
    return ""


@pytest.mark.parametrize(
    "line",
    [
        "import time; time.time()",
        "import time as t; t.monotonic()",
        "from time import perf_counter as stopwatch; stopwatch()",
        "import datetime; datetime.datetime.now()",
        "import datetime as d; d.date.today()",
        "from datetime import datetime; datetime.now()",
        "from datetime import datetime; default = datetime.utcnow",
        "from datetime import date as day; day.today()",
        "from sqlalchemy import func; func.now()",
        "import sqlalchemy as sa; sa.func.current_timestamp()",
        "def late():\n    import time\n    return time.time_ns()",
    ],
)
def test_a_reading_is_found_however_it_is_imported(line: str, tmp_path: Path) -> None:
    plant(tmp_path, "domain/broken.py", line)
    assert len([place for module in modules(tmp_path) for place in readings(module)]) == 1


@pytest.mark.parametrize(
    "line",
    [
        "def decide(clock): return clock.now()",
        "from datetime import time; time(9, 0)",
        "from datetime import datetime; datetime.fromisoformat('2026-05-12')",
        "import time; time.sleep(1)",
    ],
)
def test_other_uses_of_time_are_free(line: str, tmp_path: Path) -> None:
    plant(tmp_path, "domain/innocent.py", line)
    assert not [place for module in modules(tmp_path) for place in readings(module)]


def test_the_clock_is_read_in_one_file() -> None:
    others = (module for module in modules(ROOT) if module.path != THE_ONE_FILE)
    assert [place for module in others for place in readings(module)] == []
