"""Ids: entities, kinds, and digests whose parts cannot run into each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from domain.ids import LONGEST_ID, Id, digest, entity, id_of, kind_of

ids = TypeAdapter(Id)
printable = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


def test_an_entity_is_its_kind_and_its_owners_id_whatever_that_holds() -> None:
    assert entity("booking", "b/1/x") == "booking/b/1/x"
    assert (kind_of("booking/b/1/x"), id_of("booking/b/1/x")) == ("booking", "b/1/x")


def test_parts_of_a_digest_do_not_run_into_each_other() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a", "") != digest("a") != digest("", "a")
    assert digest("1:a") != digest("a")


def test_the_length_of_a_part_is_counted_in_bytes() -> None:
    assert len(digest("räume", "日本")) == 64


@given(st.lists(printable, max_size=4), st.lists(printable, max_size=4))
def test_two_lists_of_parts_have_one_digest_only_if_they_are_the_same(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) is (one == other)


@pytest.mark.parametrize("text", ["b1", "b 1", "b/1", "日本", "a#b?c=d%20", "'; drop table--", "x" * LONGEST_ID])
def test_an_id_is_any_printable_text(text: str) -> None:
    assert ids.validate_python(text) == text


@pytest.mark.parametrize("text", ["", "a\nb", "a\0", "\ud800", "a\u202e", "x" * (LONGEST_ID + 1), 7, None])
def test_what_a_header_or_a_terminal_cannot_carry_is_no_id(text: object) -> None:
    with pytest.raises(ValidationError):
        ids.validate_python(text)
