"""The quick way to the canonical form of JSON comes to the same as the slow one, for every value."""

from __future__ import annotations

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from adapters.ingestion.inbox import canonical
from domain.errors import InvalidInput

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.integers(min_value=-(2**53), max_value=2**53) | st.floats()
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(VALUES)
def test_both_ways_come_to_the_same(value: Any) -> None:
    try:
        expected = rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        with pytest.raises(InvalidInput):
            canonical(value)
    else:
        assert canonical(value) == expected


@pytest.mark.parametrize("text", ["\ud800", {"\udfff": 1}, ["a", "\udc00"]])
def test_half_a_character_has_no_form(text: object) -> None:
    with pytest.raises(InvalidInput):
        canonical(text)


@pytest.mark.parametrize("text", ["\x00\x1f\x7f\x80\u2028", '"\\/\b\f\n\r\t', "é😀", ""])
def test_texts_are_escaped_alike(text: str) -> None:
    assert canonical([text, {"a": text}]) == rfc8785.dumps([text, {"a": text}])
