"""The budget of lines: what passes it holds two things.

A function is measured from its signature to its last statement, without its docstring, blank lines and
comments.
"""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.tree import ROOT, Module, modules, plant

LONGEST_FILE = 300
LONGEST_FUNCTION = 40
MEDIAN_FUNCTION = 8

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(module: Module) -> Iterator[tuple[str, int]]:
    """Give the place and the length of each function."""
    for node in ast.walk(module.syntax):
        if isinstance(node, Function):
            yield f"{module.path}:{node.lineno}: {node.name}", length(node, module.lines)


def length(function: Function, lines: list[str]) -> int:
    """Return how many lines of a file are statements of the function."""
    documented = docstring_lines(function)
    numbers = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    return sum(1 for number in numbers if number not in documented and is_code(lines[number - 1]))


def docstring_lines(function: Function) -> range:
    """Return the numbers of the lines of the docstring."""
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is None:
        return range(0)
    return range(first.lineno, (first.end_lineno or first.lineno) + 1)


def is_code(line: str) -> bool:
    """Return whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.strip().startswith("#")


def too_long_files(root: Path) -> list[str]:
    """Return the files over the budget."""
    return [f"{module.path}: {len(module.lines)}" for module in modules(root) if len(module.lines) > LONGEST_FILE]


def too_long_functions(root: Path) -> list[str]:
    """Return the functions over the budget."""
    measured = (found for module in modules(root) for found in functions(module))
    return [f"{place}: {lines}" for place, lines in measured if lines > LONGEST_FUNCTION]


def median(root: Path) -> float:
    """Return the median length of a function; a tree without functions has none to speak of."""
    measured = [lines for module in modules(root) for _, lines in functions(module)]
    return statistics.median(measured or [0])


def test_a_function_is_measured_by_its_statements(tmp_path: Path) -> None:
    plant(
        tmp_path,
        "domain/small.py",
        '''
        def measured(
            value: int,
        ) -> int:
            """A docstring

            of several lines.
            """

            # A comment.
            return value
        ''',
    )
    (module,) = modules(tmp_path)
    assert [lines for _, lines in functions(module)] == [4]


def test_what_is_over_the_budget_is_found(tmp_path: Path) -> None:
    body = "    value = 1\n" * LONGEST_FUNCTION
    plant(tmp_path, "domain/long.py", f"def long():\n{body}" + "\n" * LONGEST_FILE)
    assert too_long_functions(tmp_path) == ["domain/long.py:1: long: 41"]
    assert too_long_files(tmp_path) == ["domain/long.py: 341"]
    assert median(tmp_path) == 41


def test_what_is_just_within_the_budget_passes(tmp_path: Path) -> None:
    plant(tmp_path, "domain/just.py", "def just():\n" + "    value = 1\n" * (LONGEST_FUNCTION - 1))
    assert (too_long_functions(tmp_path), too_long_files(tmp_path)) == ([], [])


def test_no_file_is_longer_than_it_should_be() -> None:
    assert too_long_files(ROOT) == []


def test_no_function_is_longer_than_it_should_be() -> None:
    assert too_long_functions(ROOT) == []


def test_half_of_the_functions_are_short() -> None:
    assert median(ROOT) <= MEDIAN_FUNCTION
