"""YAML documents as nodes: plain data, each with its place in the source.

Keys are texts and stand once; tags, merge keys and cycles are refused. What is too deep or, through
aliases, too large is refused before it is built.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from adapters.files.source_text import SourceText
from adapters.files.yaml_faults import explained
from adapters.files.yaml_scalars import plain_value
from domain.errors import InvalidInput
from domain.text_values import shown

DEEPEST = 50
"""Lists and mappings inside each other."""

MOST_NODES = 200_000
"""Values in one document, those repeated by aliases counted each time."""

_TEXT_TAGS = frozenset({"!", "tag:yaml.org,2002:str"})


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a document: its plain data, and where it stands from `start` up to `end`.

    `keys` and `items` are by key of a mapping; a list has `items` by index. `size` counts the values inside,
    `height` how many lists and mappings lie inside each other.
    """

    value: Any
    start: int
    end: int
    style: str = ""
    keys: dict[str, Node] = field(default_factory=dict)
    items: dict[str | int, Node] = field(default_factory=dict)
    size: int = 1
    height: int = 0

    @property
    def is_scalar(self) -> bool:
        """Say whether this is a single value."""
        return not isinstance(self.value, (dict, list))


def nodes_of(source: SourceText) -> Iterator[Node]:
    """Return the root node of each document of a stream."""
    reader = YAML(typ="safe", pure=True)
    try:
        events = iter(reader.parse(source.text))
        for event in events:
            if isinstance(event, DocumentStartEvent):
                yield _Composer(source, events).node(next(events), 0)
    except MarkedYAMLError as error:
        raise explained(source, error) from None


class _Composer:
    """Builds one document from the events of the parser."""

    def __init__(self, source: SourceText, events: Iterator[Any]) -> None:
        self._source, self._events = source, events
        self._anchors: dict[str, Node | None] = {}
        self._values = 0

    def node(self, event: Any, depth: int) -> Node:
        start = event.start_mark.index
        if isinstance(event, AliasEvent):
            return self._alias(event, start, depth)
        if depth > DEEPEST:
            raise self._too_deep(start)
        self._count(1, start)
        if event.anchor:
            # Known but not finished: an alias to it from inside would be a cycle.
            self._anchors[event.anchor] = None
        self._check_tag(event, start)
        match event:
            case ScalarEvent():
                node = self._scalar(event, start)
            case SequenceStartEvent():
                node = self._list(event, start, depth)
            case _:
                node = self._mapping(event, start, depth)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _check_tag(self, event: Any, start: int) -> None:
        if event.tag and event.tag not in _TEXT_TAGS:
            raise self._source.refuse(start, f"the tag {shown(str(event.tag))} means nothing here: leave it out")

    def _too_deep(self, start: int) -> InvalidInput:
        return self._source.refuse(start, f"more than {DEEPEST} lists and mappings inside each other")

    def _alias(self, event: AliasEvent, start: int, depth: int) -> Node:
        name = event.anchor
        if name not in self._anchors:
            raise self._source.refuse(start, f"nothing is anchored as &{name}; a text that begins with * needs quotes")
        found = self._anchors[name]
        if found is None:
            raise self._source.refuse(start, f"*{name} stands inside of what it repeats: write it out")
        if depth + found.height > DEEPEST:
            raise self._too_deep(start)
        self._count(found.size, start)
        return replace(found, start=start, end=event.end_mark.index, value=copy.deepcopy(found.value))

    def _scalar(self, event: ScalarEvent, start: int) -> Node:
        value: Any = event.value
        self._check_text(value, start)
        if event.style is None and not event.tag:
            try:
                value = plain_value(value)
            except ValueError as error:
                raise self._source.refuse(start, str(error)) from None
        return Node(value, start, event.end_mark.index, event.style or "")

    def _check_text(self, text: str, start: int) -> None:
        # Escapes can make characters that the file itself does not hold.
        for character in text:
            if character == "\0" or "\ud800" <= character <= "\udfff":
                raise self._source.refuse(start, f"holds U+{ord(character):04X}, which cannot be stored")

    def _list(self, event: Any, start: int, depth: int) -> Node:
        items: dict[str | int, Node] = {}
        for inner in self._events:
            if isinstance(inner, SequenceEndEvent):
                values = [node.value for node in items.values()]
                return self._collection(values, start, inner, "[" if event.flow_style else "", {}, items)
            items[len(items)] = self.node(inner, depth + 1)
        raise AssertionError("the parser ends what it begins")

    def _mapping(self, event: Any, start: int, depth: int) -> Node:
        keys: dict[str, Node] = {}
        items: dict[str | int, Node] = {}
        for inner in self._events:
            if isinstance(inner, MappingEndEvent):
                values = {key: node.value for key, node in items.items()}
                return self._collection(values, start, inner, "{" if event.flow_style else "", keys, items)
            key = self._key(inner, keys)
            items[key] = self.node(next(self._events), depth + 1)
        raise AssertionError("the parser ends what it begins")

    @staticmethod
    def _collection(
        value: Any, start: int, end: Any, style: str, keys: dict[str, Node], items: dict[str | int, Node]
    ) -> Node:
        size = 1 + sum(node.size for node in items.values())
        height = 1 + max((node.height for node in items.values()), default=0)
        return Node(value, start, end.end_mark.index, style, keys, items, size, height)

    def _count(self, values: int, start: int) -> None:
        # Counted before they are built: a few aliases can stand for millions.
        self._values += values
        if self._values > MOST_NODES:
            raise self._source.refuse(start, f"more than {MOST_NODES:,} values: split it, or use fewer aliases")

    def _key(self, event: Any, keys: dict[str, Node]) -> str:
        start = event.start_mark.index
        if not isinstance(event, ScalarEvent):
            raise self._source.refuse(start, 'a key is a text; a template needs quotes around it: "{{ … }}"')
        key = event.value
        self._check_text(key, start)
        if not key and not event.style:
            raise self._source.refuse(start, "a key is missing before the colon")
        if key == "<<" and not event.style:
            raise self._source.refuse(start, "YAML 1.2 does not merge mappings: write the settings out")
        if key in keys:
            first = self._source.line_of(keys[key].start)
            raise self._source.refuse(start, f"the key {shown(key)} stands here twice, first in line {first}")
        keys[key] = Node(key, start, event.end_mark.index, event.style or "")
        return str(key)
