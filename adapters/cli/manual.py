"""The reference page of the command, made from the command itself: `python -m adapters.cli.manual` prints it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from adapters.cli.main import app
from adapters.cli.printing import say

OPENING = """# The command `semel`

This page is made from the command itself (`python -m adapters.cli.manual`); a test fails when it is stale.

Where no database is named, `./semel.db` is used, and `ingest`, `apply`, `work` and `demo` make it by
themselves. `semel.toml` in the folder, and variables `SEMEL_…`, which win, set everything else.

Lists take `--json` and print an array of objects, all of them. A run has `rule`, `version`, `trigger`,
`entity`, `date`, `key`, `status`, `at` and `reason`. Instants are in UTC.

| exit code | means |
|---|---|
| 0 | done |
| 1 | what was looked for is there: a failed expectation, an open dossier with `--fail` |
| 2 | wrong usage or input, or a database that cannot be used: something has to be changed, or tried later |
| 70 | a fault of Semel itself; `--traceback` shows where |
| 130 | stopped from the keyboard |
"""

HIDDEN = {"help", "install_completion", "show_completion"}
"""Options that every command of this kind has."""


def manual() -> str:
    """Return the page in Markdown."""
    root: Any = get_command(app)
    parts = [OPENING.strip(), "## Options of every command", _table(root)]
    for name, command in root.commands.items():
        parts += _chapter(f"semel {name}", command, "##")
    return "\n\n".join(filter(None, parts)) + "\n"


def _chapter(name: str, command: Any, heading: str) -> Iterator[str]:
    yield f"{heading} `{name}`"
    yield inspect.cleandoc(command.help or "")
    yield f"    {_usage(name, command)}"
    yield _table(command)
    for inner, subcommand in getattr(command, "commands", {}).items():
        yield from _chapter(f"{name} {inner}", subcommand, "###")


def _usage(name: str, command: Any) -> str:
    arguments = [_argument(param) for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option" and param.name not in HIDDEN]
    return " ".join([name, *(["[OPTIONS]"] if options else []), *arguments])


def _table(command: Any) -> str:
    rows = [_row(param) for param in command.params if param.name not in HIDDEN]
    return "\n".join(["| | |", "|---|---|", *rows]) if rows else ""


def _row(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"| `{_argument(param)}` | {param.help} |"
    value = f" {_metavar(param)}" if not (param.is_flag or param.count) else ""
    return f"| `{', '.join(param.opts)}{value}` | {param.help} |"


def _argument(param: Any) -> str:
    return f"{param.metavar or param.name}{'…' if param.nargs == -1 else ''}"


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name.upper())


if __name__ == "__main__":
    say(manual().rstrip())
