"""Named values in settings: JSON of bounded size, whose texts can be changed in place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automations.structures import DEEPEST, MOST_VALUES, read_structure, texts_in, with_texts

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=10)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | names
lists = st.lists(scalars, max_size=3)
mappings = st.dictionaries(names, scalars | lists, max_size=3)
structures = st.dictionaries(names, scalars | lists | mappings | st.lists(mappings, max_size=2), max_size=4)


@given(structures)
def test_what_is_read_is_json_and_is_read_again_as_the_same(given_values: dict[str, Any]) -> None:
    read = read_structure(given_values)

    assert read == given_values
    assert read_structure(json.loads(json.dumps(read))) == read


@given(structures)
def test_each_text_is_found_and_changed_at_its_place(given_values: dict[str, Any]) -> None:
    changed = with_texts(given_values, lambda path, text: f"{path} {text}")

    assert list(texts_in(changed)) == [(path, f"{path} {text}") for path, text in texts_in(given_values)]
    assert with_texts(given_values, lambda _, text: text) == given_values


def nested(depth: int) -> Any:
    return {"x": nested(depth - 1)} if depth else "x"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("text", "is not a mapping"),
        (None, "is not a mapping"),
        (nested(DEEPEST + 1), "deep"),
        ({str(number): 1 for number in range(MOST_VALUES + 1)}, "more than"),
        ({"x": ["y"] * 10_000}, "more than"),
        ({"": 1}, "is not a name"),
        ({1: 1}, "is not a name"),
        ({"x" * 101: 1}, "is not a name"),
        ({"\0": 1}, "cannot be stored"),
        ({"x": "\ud800"}, "cannot be stored"),
        ({"x": "y" * 10_001}, "characters"),
        ({"x": 2**53 + 1}, "too large"),
        ({"x": 10**400}, "too large"),
        ({"x": float("inf")}, "too large"),
        ({"x": float("nan")}, "too large"),
        ({"x": {1, 2}}, "is not a text"),
        ({"x": b"y"}, "is not a text"),
    ],
)
def test_what_json_or_a_reasonable_reader_cannot_hold_is_refused(value: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_structure(value)


def test_the_deepest_structure_is_taken() -> None:
    assert read_structure(nested(DEEPEST)) == nested(DEEPEST)
