"""What a YAML scalar means by the core schema of YAML 1.2, which has no dates and whose `on` is text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)")
_JOINED_LINES = re.compile(r"\\\r?\n[ \t]*")

LONGEST_NUMBER = 40
"""Characters of a number; more digits than that are an identifier, which is text."""


def plain_value(text: str) -> str | int | float | bool | None:
    """Return the value of a scalar without quotes; `ValueError` says what to write instead."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _NO_NUMBER.fullmatch(text):
        raise ValueError(f"{text} is not a number that can be stored; put it in quotes if it is text")
    return _number(text) if text[0] in "+-.0123456789" else text


def _number(text: str) -> str | int | float:
    if not (_INT.fullmatch(text) or _FLOAT.fullmatch(text) or _OCTAL.fullmatch(text) or _HEX.fullmatch(text)):
        return text
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number has at most {LONGEST_NUMBER} digits: put it in quotes if it is text")
    if _INT.fullmatch(text):
        return int(text)
    if text.startswith(("0o", "0x")):
        return int(text, 0)
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large a number")
    return number


def index_in_source(written: str, value: str, offset: int) -> int:
    """Return where a character of a scalar's value stands in what was written for it.

    `written` is the scalar in the source, with its quotes or block header; folded lines and escapes are
    followed as they were read.
    """
    place = 0
    for index, place in enumerate(_places(written, value)):
        if index == offset:
            return place
    return place + 1 if value else 0


def _places(written: str, value: str) -> Iterator[int]:
    at = 0
    if written[:1] in ("'", '"'):
        at = 1
    elif written[:1] in ("|", ">"):
        at = written.find("\n") + 1
    escapes = written.startswith('"')
    for character in value:
        at = _next_place(written, at, character, escapes=escapes)
        yield at
        escape = _ESCAPE.match(written, at) if escapes else None
        at = escape.end() if escape else at + 1


def _next_place(written: str, at: int, character: str, *, escapes: bool) -> int:
    """Return the next place in the source that can have been read as this character."""
    while at < len(written) - 1:
        here = written[at]
        joined = _JOINED_LINES.match(written, at) if escapes else None
        if joined:
            at = joined.end()
            continue
        if here == character or (escapes and here == "\\") or (character in " \n" and here in " \r\n"):
            return at
        at += 1
    return at
