"""What the command prints: tables for people, arrays for programs, complaints on the error stream.

On a terminal tables have lines and wrap; in a pipe they are plain columns, never cut and without any
escape sequence. Nothing that comes from outside can move the cursor or colour the screen.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, TextIO

from automations.visible_text import many_lines, one_line

if TYPE_CHECKING:
    from rich.console import Console

GAP = "  "
"""What stands between two columns in a pipe."""


def say(text: str = "") -> None:
    """Print lines for people."""
    _write(sys.stdout, many_lines(text))


def complain(text: str) -> None:
    """Print lines on the error stream."""
    _write(sys.stderr, many_lines(text))


def _write(stream: TextIO, text: str) -> None:
    stream.write(f"{text}\n")
    stream.flush()


def console(*, stderr: bool = False) -> Console:
    """Return a console of rich that takes every text as it is."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def is_terminal(stream: TextIO) -> bool:
    """Say whether a person looks at a stream."""
    return stream.isatty()


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under their columns."""
    texts = [[one_line(cell_text(cell)) for cell in row] for row in rows]
    if is_terminal(sys.stdout):
        _show_on_terminal(columns, texts)
    else:
        for line in _plain_lines([[name.upper() for name in columns], *texts]):
            _write(sys.stdout, line)


def _show_on_terminal(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


def _plain_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True))
        yield GAP.join(padded).rstrip()


def cell_text(value: object) -> str:
    """Return a value as a table shows it; instants are in UTC and end in Z."""
    match value:
        case None:
            return ""
        case datetime():
            return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
        case _:
            return str(value)


def print_array(objects: Iterable[Mapping[str, Any]]) -> None:
    """Print a JSON array, an object in each line; what breaks off half way leaves a proper array too."""
    begun = False
    try:
        for found in objects:
            sys.stdout.write(f"{',' if begun else '['}\n{as_json(found)}")
            begun = True
    finally:
        if begun:
            _write(sys.stdout, "\n]")
    if not begun:
        _write(sys.stdout, "[]")


def as_json(value: object) -> str:
    """Return compact JSON; dates and instants are text, the latter in UTC."""
    readable = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, ensure_ascii=not readable, default=_json_text)


def _json_text(value: object) -> str:
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case _:
            return str(value)
