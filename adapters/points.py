"""Points that an engine passes: the beginning and the end of each commit and of each call of a service.

In life nothing happens there. Whoever wants to see an engine die at one of them gives it something that does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

When = Literal["before call", "after call", "before commit", "after commit"]


class Point(NamedTuple):
    """One point: `of` is what a transaction is for, or the operation that is called.

    `topics` are those of the events that a transaction records.
    """

    when: When
    of: str
    topics: tuple[str, ...] = ()


Points = Callable[[Point], object]
"""Is told of each point when it is reached."""


def pass_by(point: Point) -> None:
    """Go on."""
