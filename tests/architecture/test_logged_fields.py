"""What the log says is told: each field of a call is written out, or its name says why it is not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from adapters.logs import OPEN
from tests.architecture.tree import ROOT, Module, modules, plant

METHODS = frozenset({"debug", "info", "warning", "error", "exception", "critical"})

NUMBERS = frozenset({"messages"})
"""Fields that hold a number, which is written out under any name."""

NAME_SOMEBODY = frozenset({"by"})
"""Fields that are withheld, for they name people."""

GIVEN_TO_STRUCTLOG = frozenset({"exc_info"})

SAY_A_REASON = frozenset({"callback.refused", "clock.paused"})
"""Events whose reason is a text that stands in the code, with nothing in it from outside."""


class Logged(NamedTuple):
    """A call of a logger: its place, its event where that is written out, and the names of its fields."""

    place: str
    event: str
    fields: tuple[str, ...]


def logged(module: Module) -> Iterator[Logged]:
    """Give each call of a logger in a module; one whose method depends on the case is named `tell`."""
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Call) and _is_logging(node.func):
            first = node.args[0] if node.args else None
            event = str(first.value) if isinstance(first, ast.Constant) else ""
            yield Logged(f"{module.path}:{node.lineno}", event, tuple(str(each.arg) for each in node.keywords))


def _is_logging(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id == "tell"
    return isinstance(called, ast.Attribute) and called.attr in METHODS and ast.unparse(called.value) == "logger"


def withheld(root: Path) -> list[str]:
    """Return the fields that nobody would see, without having a reason."""
    told = OPEN | NUMBERS | NAME_SOMEBODY | GIVEN_TO_STRUCTLOG
    calls = [each for module in modules(root) for each in logged(module)]
    return [f"{call.place}: {name}" for call in calls for name in call.fields if name not in told]


def unknown_reasons(root: Path) -> list[str]:
    """Return the events that say a reason of which nobody has said that it holds nothing personal."""
    calls = [each for module in modules(root) for each in logged(module)]
    return [
        f"{call.place}: {call.event}" for call in calls if "reason" in call.fields and call.event not in SAY_A_REASON
    ]


def test_a_field_that_is_withheld_and_a_reason_from_anywhere_are_found(tmp_path: Path) -> None:
    plant(tmp_path, "adapters/broken.py", 'logger.info("a.b", mood=mood, key=key)\nlogger.info("a.c", reason=text)\n')
    assert withheld(tmp_path) == ["adapters/broken.py:1: mood"]
    assert unknown_reasons(tmp_path) == ["adapters/broken.py:2: a.c"]


def test_every_field_of_every_call_is_told_or_says_why_not() -> None:
    assert withheld(ROOT) == []
    assert not OPEN & NAME_SOMEBODY


def test_a_reason_is_a_text_of_our_own() -> None:
    assert unknown_reasons(ROOT) == []
