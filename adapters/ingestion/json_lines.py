"""JSON lines are read from files and pipes: one event in a line, in memory that no line can exhaust.

A line that cannot be an event is an item too, with its number and every fault, so that a bad line takes
none of its neighbours with it.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from adapters.ingestion.cloud_events import read_event, read_json
from adapters.ingestion.incoming import Incoming
from domain.errors import InvalidInput, Mistake

STDIN = "-"
"""The name of the standard input."""

LONGEST_LINE = 1_000_000
"""Bytes of one line, unless the settings say otherwise."""

_SKIP = 65_536
_GZIP = b"\x1f\x8b"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLANK = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a file, or one event of a list: what it says, or everything that is wrong with it.

    `number` counts lines from 1. `source`, `id` and `type` are there as far as they could be read.
    """

    number: int
    incoming: Incoming | None = None
    mistakes: tuple[Mistake, ...] = ()
    source: str = ""
    id: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """The JSON value of one line, or what is wrong with the line; `number` counts lines from 1."""

    number: int
    value: Any = None
    mistakes: tuple[Mistake, ...] = ()


@dataclass(frozen=True, slots=True)
class Lines:
    """An open file of JSON lines. `size` is None where nobody knows it; both count bytes as stored."""

    name: str
    stream: IO[bytes]
    stored: IO[bytes]
    size: int | None = None

    def bytes_read(self) -> int:
        """Return how far the file has been read; 0 for a pipe."""
        return self.stored.tell() if self.size is not None else 0

    def items(self, longest: int = LONGEST_LINE) -> Iterator[Item]:
        """Give each line that is not blank, in the order of the file."""
        return read_items(self.stream, longest)

    def values(self, longest: int = LONGEST_LINE) -> Iterator[Value]:
        """Give the value of each line that is not blank, whatever it means."""
        return read_values(self.stream, longest)


@contextmanager
def opened(name: str) -> Iterator[Lines]:
    """Open a file, or the standard input for `-`; what gzip has packed is unpacked on the way.

    Raises InvalidInput where it cannot be read, or is no text in UTF-8 from its first bytes on.
    """
    try:
        stored: IO[bytes] = sys.stdin.buffer if name == STDIN else Path(name).open("rb")  # noqa: SIM115
    except IsADirectoryError:
        raise InvalidInput(f"{name or '.'}: this is a folder; name the files in it") from None
    except OSError as error:
        raise InvalidInput(f"{name}: {error.strerror}") from None
    try:
        size = Path(name).stat().st_size if name != STDIN and stored.seekable() else None
        yield Lines("standard input" if name == STDIN else name, _unpacked(name, stored), stored, size)
    finally:
        if name != STDIN:
            stored.close()


def _unpacked(name: str, stored: IO[bytes]) -> IO[bytes]:
    stream: Any = stored if hasattr(stored, "peek") else io.BufferedReader(stored)
    try:
        beginning = stream.peek(len(_GZIP))
    except OSError as error:
        raise InvalidInput(f"{name}: {error.strerror}") from None
    if beginning.startswith(_UTF_16):
        raise InvalidInput(f"{name}: is written in UTF-16: save it as UTF-8")
    unpacked: Any = gzip.GzipFile(fileobj=stream) if beginning.startswith(_GZIP) else stream
    return cast(IO[bytes], unpacked)


def read_items(stream: IO[bytes], longest: int = LONGEST_LINE) -> Iterator[Item]:
    """Give each line that is not blank as an item; of one longer than `longest` bytes only a fault is kept."""
    return map(_item, read_values(stream, longest))


def read_values(stream: IO[bytes], longest: int = LONGEST_LINE) -> Iterator[Value]:
    """Give each line that is not blank as a value; of one longer than `longest` bytes only a fault is kept."""
    number = 0
    try:
        for number, line in enumerate(_lines(stream, longest), 1):
            if line is None:
                yield _refused(number, f"is longer than {longest:,} bytes (the setting longest_line)")
            elif text := (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).strip(_BLANK):
                yield _value(number, text)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield _refused(number + 1, f"the packed file breaks off here, nothing behind it was read: {error}")
    except OSError as error:
        yield _refused(number + 1, f"the file cannot be read on from here: {error.strerror}")


def _lines(stream: IO[bytes], longest: int) -> Iterator[bytes | None]:
    """Give each line, or None in the place of one that is too long."""
    while line := stream.readline(longest + 2):
        if len(line.rstrip(b"\r\n")) <= longest:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(_SKIP)
        yield None


def read_line(number: int, text: bytes) -> Item:
    """Return what one line says, with every fault if it is no event."""
    return _item(_value(number, text))


def _value(number: int, text: bytes) -> Value:
    try:
        return Value(number, read_strictly(text))
    except InvalidInput as error:
        return Value(number, mistakes=error.mistakes)


def _item(read: Value) -> Item:
    return Item(read.number, mistakes=read.mistakes) if read.mistakes else read_value(read.number, read.value)


def read_value(number: int, value: object) -> Item:
    """Return what one CloudEvent says, with every fault if it is none."""
    mistakes: tuple[Mistake, ...] = ()
    try:
        incoming = read_event(value)
    except InvalidInput as error:
        incoming, mistakes = None, error.mistakes
    return Item(number, incoming, mistakes, _named(value, "source"), _named(value, "id"), _named(value, "type"))


def _named(value: object, name: str) -> str:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def _refused(number: int, message: str) -> Value:
    return Value(number, mistakes=(Mistake((), message),))


def read_strictly(text: bytes) -> Any:
    """Return a JSON value that means one thing only: in UTF-8, and no name stands twice in one object."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"is not UTF-8: byte {error.start + 1} cannot be read") from None
    try:
        value = read_json(text)
    except InvalidInput as error:
        raise InvalidInput(str(error).replace("at line 1 column", "at character")) from None
    json.loads(text, object_pairs_hook=_once_each)
    return value


def _once_each(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise InvalidInput(f"the name {twice[:80]!r} stands twice in one object")
