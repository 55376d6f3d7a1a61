"""How the memory of a process is kept tidy."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 20_000
"""New objects between two looks for cycles: a batch makes that many, and hardly ever a cycle."""


def collect_rarely() -> None:
    """Let the collector of cycles look seldom, and never at what is there already, such as code.

    For a process of ours, at its beginning: what is dropped is freed at once anyway, and thousands of entities
    that are remembered would be looked through again and again in vain.
    """
    gc.freeze()
    gc.set_threshold(OBJECTS, 20, 50)


@contextmanager
def uncollected() -> Iterator[None]:
    """Let nobody look for cycles of unused objects meanwhile; everything else goes by itself as ever.

    For pieces of work that keep what they make to their end: looking through it again and again takes a sixth
    of their time. Threads may do this side by side; the first that is through lets collections begin again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
