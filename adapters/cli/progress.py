"""The bar that a person sees during long work; in a pipe there is none."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adapters.cli.printing import complain, console, is_terminal, say
from automations.visible_text import many_lines

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

WATCHED_EVERY = 0.25
"""Seconds between two looks of a watcher."""


class Bar:
    """A bar that shows nothing: what a pipe gets."""

    def move_to(self, done: float, total: float | None = None, note: str = "") -> None:
        """Show how much is done, of how much, and a few words."""

    def complain(self, text: str) -> None:
        """Print lines on the error stream, above the bar."""
        complain(text)

    def say(self, text: str) -> None:
        """Print lines for people, above the bar."""
        say(text)


class VisibleBar(Bar):
    """A bar on a terminal."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress, self._task = progress, task

    def move_to(self, done: float, total: float | None = None, note: str = "") -> None:
        """Show how much is done, of how much, and a few words."""
        self._progress.update(self._task, completed=done, total=total, note=note)

    def complain(self, text: str) -> None:
        """Print lines on the error stream, above the bar."""
        self._progress.console.print(many_lines(text), soft_wrap=True)

    def say(self, text: str) -> None:
        """Print lines for people, above the bar where both go to one terminal."""
        if is_terminal(sys.stdout):
            self.complain(text)
        else:
            say(text)


@contextmanager
def bar(doing: str, *, of_bytes: bool = False) -> Iterator[Bar]:
    """Show a bar on the error stream while the block runs, if a person looks at it."""
    if not is_terminal(sys.stderr):
        yield Bar()
        return
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    amount = DownloadColumn() if of_bytes else MofNCompleteColumn()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        amount,
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as progress:
        yield VisibleBar(progress, progress.add_task(doing, total=None, note=""))


@contextmanager
def watching(look: Callable[[], object]) -> Iterator[None]:
    """Look again and again from another thread while the block runs, if a person looks at the error stream."""
    if not is_terminal(sys.stderr):
        yield
        return
    over = threading.Event()

    def watch() -> None:
        while not over.wait(WATCHED_EVERY):
            look()

    thread = threading.Thread(target=watch, name="semel-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
