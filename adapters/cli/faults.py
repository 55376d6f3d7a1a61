"""What goes wrong, as messages and exit codes: 2 for wrong usage, input or set-up, 70 for a fault of ours."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from adapters.cli.printing import complain
from domain.errors import Conflict, CorruptEvent, InvalidInput, Unavailable

FOUND = 1
"""What was looked for is there: a failed expectation, an open dossier with `--fail`."""

WRONG_INPUT = 2
"""The caller has to change something, or to try later."""

FAULT = 70
"""A fault of Semel itself."""

INTERRUPTED = 130
"""Stopped from the keyboard."""

READER_LEFT = 141
"""Whoever read our output went away: what a shell calls SIGPIPE."""

ANYWHERE = {"--database": 1, "--schema": 1, "--verbose": 0, "-v": 0, "-vv": 0, "--traceback": 0}
"""Global options, which may stand behind the command too, each with the number of its values."""


class SemelGroup(TyperGroup):
    """The root of the command: takes global options anywhere, and ends every error with a message."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Bring the global options to the front, then read the arguments."""
        return super().parse_args(ctx, hoisted(args))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with reported(show_traceback=bool(ctx.params.get("show_traceback"))):
            return super().invoke(ctx)


def hoisted(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the global options first; behind `--` nothing is an option."""
    first: list[str] = []
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            return [*first, *rest, argument, *waiting]
        name, equals, _ = argument.partition("=")
        if name not in ANYWHERE:
            rest.append(argument)
            continue
        values = 0 if equals else ANYWHERE[name]
        first += [argument, *waiting[:values]]
        del waiting[:values]
    return [*first, *rest]


@contextmanager
def reported(*, show_traceback: bool = False) -> Iterator[None]:
    """Turn errors into messages on the error stream and the exit code that belongs to them."""
    try:
        yield
    except InvalidInput as error:
        complain_of(error)
        raise typer.Exit(WRONG_INPUT) from None
    except (Unavailable, Conflict, CorruptEvent) as error:
        complain(str(error))
        raise typer.Exit(WRONG_INPUT) from None
    except BrokenPipeError:
        _forget_stdout()
        raise typer.Exit(READER_LEFT) from None
    except KeyboardInterrupt:
        complain("stopped")
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:  # the last boundary: a person reads what is printed here
        if isinstance(error, typer.exceptions.TyperException):
            raise
        _report_fault(error, show_traceback)
        raise typer.Exit(FAULT) from None


def complain_of(error: InvalidInput) -> None:
    """Print every mistake, each on a line of its own."""
    for mistake in error.mistakes:
        complain(str(mistake))


def _report_fault(error: Exception, show_traceback: bool) -> None:
    if show_traceback:
        complain("".join(traceback.format_exception(error)))
    told = f"{type(error).__name__}: {error}".rstrip(": ")
    complain(f"a fault in Semel, not in what you wrote: {told}")
    if not show_traceback:
        complain("run it again with --traceback to see where, and please report it")


def _forget_stdout() -> None:
    # The interpreter flushes the stream once more when it ends, and would complain about the pipe again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
