"""Any text is YAML with places in it, or refused with a place."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adapters.files.yaml_edit import with_setting
from adapters.files.yaml_source import read_document, read_documents
from domain.errors import InvalidInput

texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff\ufeff"))
plain = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts.filter(bool), inner, max_size=4),
    max_leaves=20,
)
fragments = st.lists(
    st.sampled_from(
        [
            "a",
            ": ",
            ":",
            "- ",
            "\n",
            "\n  ",
            " ",
            "[",
            "]",
            "{",
            "}",
            ",",
            "&x ",
            "*x",
            "!",
            "'",
            '"',
            "|",
            ">",
            "#",
            "\t",
            "---",
            "? ",
            "%",
        ]
    ),
    max_size=25,
).map("".join)


@given(plain)
def test_json_is_yaml_and_means_the_same(data: Any) -> None:
    written = json.dumps(data, ensure_ascii=False)
    if all(len(number) <= 40 for number in written.split()):
        assert read_document(written, "x").value == data


def outcome(content: str | bytes) -> tuple[list[Any], str]:
    """Return the values of a file, or why it is refused."""
    try:
        return [document.value for document in read_documents(content, "x.yaml")], ""
    except InvalidInput as error:
        return [], str(error)


@given(st.one_of(fragments, st.text(), st.binary()))
def test_anything_is_yaml_or_refused_with_a_place(content: str | bytes) -> None:
    values, refused = outcome(content)
    json.dumps(values, allow_nan=False)
    assert not refused or refused.startswith("x.yaml:")


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inside for place in places(item, (*path, key)))]


@given(plain, st.integers(0, 50))
def test_every_value_has_a_place_in_the_file(data: Any, offset: int) -> None:
    document = read_document(json.dumps(data, ensure_ascii=False, indent=1), "x")
    lines = document.source.text.split("\n")
    for path in places(data):
        _, line, column = document.place(path, offset).split(":")
        assert 1 <= int(line) <= len(lines)
        assert 1 <= int(column) <= len(lines[int(line) - 1]) + 1


@given(
    st.dictionaries(texts.filter(bool), st.one_of(texts, st.booleans()), min_size=1, max_size=4),
    st.booleans(),
)
def test_a_changed_setting_is_the_only_change(data: dict[str, Any], value: bool) -> None:
    for indent in (None, 2):
        document = read_document(json.dumps({"a": [data]}, indent=indent, ensure_ascii=False), "x")
        for key in ("enabled", next(iter(data))):
            try:
                changed = with_setting(document, ("a", 0), key, value)
            except InvalidInput:
                continue
            assert read_document(changed, "x").value == {"a": [{**data, key: value}]}
