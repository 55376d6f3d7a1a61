"""Expected lines are matched with what happened, whatever the order: as many pairs as there can be.

A line that says little must not take what a line that says more needs, so pairs are rearranged (Kuhn's
algorithm for bipartite matching).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from automations.mistakes import Path


class Line(Protocol):
    """An expected line, which stands for `times` things."""

    @property
    def path(self) -> Path:
        """Return where the line stands."""
        ...

    @property
    def times(self) -> int:
        """Return how many things this line stands for."""
        ...


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a line says: what it wants, what there is, and whether that fits."""

    name: str
    wanted: str
    seen: str
    fits: bool

    def __str__(self) -> str:
        return f"{self.name} is {self.seen or 'nothing'}, not {self.wanted}"


E = TypeVar("E", bound=Line)
R = TypeVar("R")

Checks = Callable[[E, R], list[Check]]


@dataclass(frozen=True, slots=True)
class Matched(Generic[E, R]):
    """The lines with how many of their things were found, and the rows that no line stands for."""

    found: list[tuple[E, int]]
    left: list[R]


def matched(expected: Sequence[E], rows: Sequence[R], checks: Checks[E, R]) -> Matched[E, R]:
    """Return the best matching of lines and rows."""
    slots = [index for index, line in enumerate(expected) for _ in range(line.times)]
    fitting = [
        [number for number, row in enumerate(rows) if all(check.fits for check in checks(line, row))]
        for line in expected
    ]
    slot_of: dict[int, int] = {}
    for slot in range(len(slots)):
        _assign(slot, slots, fitting, slot_of, set())
    counts = [0] * len(expected)
    for slot in slot_of.values():
        counts[slots[slot]] += 1
    left = [row for number, row in enumerate(rows) if number not in slot_of]
    return Matched(list(zip(expected, counts, strict=True)), left)


def nearest(line: E, rows: Sequence[R], checks: Checks[E, R]) -> tuple[R, list[Check]] | None:
    """Return the row that fits a line best, with what does not fit; None where none fits in anything.

    What stands first among a line's checks counts most.
    """
    best: tuple[tuple[bool, ...], R, list[Check]] | None = None
    for row in rows:
        made = checks(line, row)
        score = tuple(check.fits for check in made)
        if any(score) and (best is None or score > best[0]):
            best = (score, row, [check for check in made if not check.fits])
    return None if best is None else (best[1], best[2])


def _assign(
    slot: int, slots: Sequence[int], fitting: Sequence[list[int]], slot_of: dict[int, int], tried: set[int]
) -> bool:
    for row in fitting[slots[slot]]:
        if row in tried:
            continue
        tried.add(row)
        if row not in slot_of or _assign(slot_of[row], slots, fitting, slot_of, tried):
            slot_of[row] = slot
            return True
    return False
