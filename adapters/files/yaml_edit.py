"""One setting of a YAML file changed in its text: everything else stays as it was, to the last blank."""

from __future__ import annotations

import json

from adapters.files.yaml_nodes import Node
from adapters.files.yaml_scalars import plain_value
from adapters.files.yaml_source import Document, read_documents
from domain.errors import InvalidInput

Scalar = str | int | bool


def with_setting(document: Document, path: tuple[str | int, ...], key: str, value: Scalar) -> str:
    """Return the file's text with one key of the mapping at `path` set; it is added where it was not there.

    Comments, order, quotes and white space are kept. Raises InvalidInput where the mapping cannot be edited
    safely: the file is read again, and must say what it said before but for this one setting.
    """
    mapping = document.root
    for part in path:
        mapping = mapping.items[part]
    text = document.source.text
    start, end, new = _change(document, mapping, key, _written(value))
    changed = text[:start] + new + text[end:]
    if not _says(changed, document, path, key, value):
        raise InvalidInput(f"{document.place(path)}: {key} cannot be changed safely here: edit the file by hand")
    return changed


def rule_path(document: Document, rule_id: str) -> tuple[str | int, ...]:
    """Return where a rule stands in a document of rules."""
    rules = document.root.items.get("rules")
    for index, node in (rules.items if rules is not None else {}).items():
        if isinstance(node.value, dict) and node.value.get("id") == rule_id:
            return ("rules", index)
    raise InvalidInput(f"{document.source.name}: no rule is called {rule_id}")


def _change(document: Document, mapping: Node, key: str, written: str) -> tuple[int, int, str]:
    """Return the part of the text to replace, and what with."""
    if key in mapping.items:
        found = mapping.items[key]
        empty = found.start == found.end
        end = mapping.keys[key].end
        return (end, end, f": {written}") if empty and _lacks_colon(document, end) else _replaced(found, end, written)
    if mapping.style == "{":
        return _into_braces(mapping, key, written)
    return _new_line(document, mapping, key, written)


def _lacks_colon(document: Document, end: int) -> bool:
    return document.source.text[end : end + 1] != ":"


def _replaced(found: Node, key_end: int, written: str) -> tuple[int, int, str]:
    if found.start == found.end:
        return key_end + 1, key_end + 1, f" {written}"
    return found.start, found.end, written


def _into_braces(mapping: Node, key: str, written: str) -> tuple[int, int, str]:
    last = list(mapping.items.values())[-1:]
    at = last[0].end if last else mapping.start + 1
    return at, at, f"{', ' if last else ''}{key}: {written}"


def _new_line(document: Document, mapping: Node, key: str, written: str) -> tuple[int, int, str]:
    """Return the new line behind the last setting that is on one line, or else before the first."""
    text = document.source.text
    indent = " " * (document.source.column_of(mapping.start) - 1)
    for name, node in reversed(mapping.items.items()):
        key_node = mapping.keys[str(name)]
        on_one_line = "\n" not in text[key_node.start : max(node.end, key_node.end)]
        if on_one_line and node.style not in ("|", ">"):
            at = text.find("\n", max(node.end, key_node.end))
            at = len(text) if at < 0 else at
            return at, at, f"\n{indent}{key}: {written}"
    return mapping.start, mapping.start, f"{key}: {written}\n{indent}"


def _written(value: Scalar) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    bare = value.isalnum() and value.isascii() and plain_value(value) == value
    return value if bare else json.dumps(value, ensure_ascii=False)


def _says(changed: str, document: Document, path: tuple[str | int, ...], key: str, value: Scalar) -> bool:
    before = read_documents(document.source.text, document.source.name)
    number = next(index for index, one in enumerate(before) if one.root.start == document.root.start)
    expected = [one.value for one in before]
    target = expected[number]
    for part in path:
        target = target[part]
    target[key] = value
    try:
        return [one.value for one in read_documents(changed, document.source.name)] == expected
    except InvalidInput:
        return False
