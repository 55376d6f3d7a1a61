"""Matching finds as many pairs as there can be, in whatever order lines and rows stand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from automations.mistakes import Path
from automations.scenarios.matching import Check, matched


@dataclass(frozen=True)
class Wish:
    """A line that fits some rows."""

    rows: frozenset[int]
    times: int = 1
    path: Path = ()


def checks(wish: Wish, row: int) -> list[Check]:
    return [Check("row", "", "", row in wish.rows)]


def most_pairs(wishes: list[Wish], rows: list[int]) -> int:
    """Try every way to give each wish a row."""
    padded = [*rows, *(-1 for _ in wishes)]
    ways = permutations(padded, len(wishes))
    return max(sum(row in wish.rows for wish, row in zip(wishes, way, strict=True)) for way in ways)


@given(st.lists(st.frozensets(st.integers(0, 3)), max_size=4), st.integers(0, 4))
def test_no_other_pairing_finds_more(wanted: list[frozenset[int]], count: int) -> None:
    wishes, rows = [Wish(each) for each in wanted], list(range(count))
    found = matched(wishes, rows, checks)
    pairs = sum(number for _, number in found.found)
    assert pairs == most_pairs(wishes, rows)
    assert len(found.left) == count - pairs


@given(st.integers(1, 5), st.integers(0, 7))
def test_a_line_takes_as_many_rows_as_it_stands_for(times: int, count: int) -> None:
    rows = list(range(count))
    found = matched([Wish(frozenset(rows), times)], rows, checks)
    assert found.found[0][1] == min(times, count)
