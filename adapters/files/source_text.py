"""The text of a file, and the lines and columns in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from domain.errors import InvalidInput

LARGEST_FILE = 2_000_000
"""Bytes of one file that people write by hand; data go through `ingest`."""

_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


class SourceText:
    """A file's text and name; places are counted from 1, in characters, as editors do."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer(r"\r\n?|\n", self.text))]

    def line_of(self, index: int) -> int:
        """Return the line of a character."""
        return bisect_right(self._starts, index)

    def column_of(self, index: int) -> int:
        """Return the column of a character in its line."""
        return index - self._starts[self.line_of(index) - 1] + 1

    def place(self, index: int) -> str:
        """Return a place as messages show it: `rules.yaml:12:9`."""
        return f"{self.name}:{self.line_of(index)}:{self.column_of(index)}"

    def refuse(self, index: int, message: str) -> InvalidInput:
        """Return the error of something wrong at a character."""
        return InvalidInput(f"{self.place(index)}: {message}")


def source_of(content: str | bytes, name: str) -> SourceText:
    """Return a file's content as text, or raise InvalidInput for what no such file may hold."""
    if len(content) > LARGEST_FILE:
        raise InvalidInput(f"{name}: the file has more than {LARGEST_FILE:,} bytes: split it into several files")
    text = _decoded(content, name) if isinstance(content, bytes) else content
    source = SourceText(name, text.removeprefix("\ufeff"))
    found = _FORBIDDEN.search(source.text)
    if found:
        code = f"U+{ord(found[0]):04X}"
        raise source.refuse(found.start(), f"the character {code} cannot stand in a text file: remove it")
    return source


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = SourceText(name, content[: error.start].decode("utf-8").removeprefix("\ufeff"))
        wrong = f"the byte 0x{content[error.start]:02X} is not UTF-8: save the file in that encoding"
        raise before.refuse(len(before.text), wrong) from None
