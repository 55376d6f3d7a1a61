"""YAML files as people write them: plain data, and for every mistake its line and column.

The schema is the core schema of YAML 1.2 without a timestamp type, so that dates, times and `on` are text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from adapters.files.source_text import SourceText, source_of
from adapters.files.yaml_nodes import Node, nodes_of
from adapters.files.yaml_scalars import index_in_source
from automations.mistakes import Key
from domain.errors import InvalidInput, Mistake


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: its value as plain data, and the places of everything in it."""

    source: SourceText
    root: Node

    @property
    def value(self) -> Any:
        """Return the plain data: mappings with text keys, lists, texts, numbers, yes/no and None."""
        return self.root.value

    def place(self, path: tuple[str | int, ...] = (), offset: int = 0) -> str:
        """Return where a value stands, like `rules.yaml:12:9`.

        A path that leads nowhere, as to a missing setting, stands for the nearest value around it. The
        offset counts characters into a text.
        """
        return self.source.place(self._index(path, offset))

    def line(self, mistake: Mistake) -> str:
        """Return a mistake as one line with its place."""
        return f"{self.place(mistake.path, mistake.offset)}: {mistake.message}"

    def lines(self, mistakes: Iterable[Mistake]) -> list[str]:
        """Return mistakes as lines, in the order of their places."""
        found = sorted(mistakes, key=lambda mistake: self._index(mistake.path, mistake.offset))
        return list(dict.fromkeys(self.line(mistake) for mistake in found))

    def located(self, error: InvalidInput) -> InvalidInput:
        """Return the same error with the place of each mistake in front of it."""
        return InvalidInput(Mistake((), line) for line in self.lines(error.mistakes))

    def _index(self, path: tuple[str | int, ...], offset: int) -> int:
        node, key = self.root, None
        for part in path:
            if part not in node.items:
                break
            key = node.keys.get(str(part)) if isinstance(node.value, dict) else None
            node = node.items[part]
        else:
            return self._start(node, key, path, offset)
        return node.start

    def _start(self, node: Node, key: Node | None, path: tuple[str | int, ...], offset: int) -> int:
        nothing_written = node.is_scalar and node.start == node.end
        if key is not None and (nothing_written or (path and isinstance(path[-1], Key))):
            return key.start
        if not isinstance(node.value, str) or not offset:
            return node.start
        return node.start + index_in_source(self.source.text[node.start : node.end], node.value, offset)


def read_documents(content: str | bytes, name: str) -> list[Document]:
    """Return the documents of a YAML stream, or raise InvalidInput with the place of what is wrong in it."""
    source = source_of(content, name)
    return [Document(source, root) for root in nodes_of(source)]


def read_document(content: str | bytes, name: str) -> Document:
    """Return the only document of a file."""
    documents = read_documents(content, name)
    if not documents:
        raise InvalidInput(f"{name}:1:1: the file is empty")
    if len(documents) > 1:
        place = documents[1].place()
        raise InvalidInput(f"{place}: a second document begins here; this file can have only one")
    return documents[0]
