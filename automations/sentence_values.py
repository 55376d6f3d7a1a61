"""The values at the end of a sentence: one, a list, or the two ends of a span; quoted or bare."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Protocol

from automations.operators import Takes
from domain.condition_tree import LARGEST_NUMBER, Scalar, Value

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?")
_QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_APOSTROPHES = re.compile(r"'((?:[^']|'')*)'")
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_BARE = {
    Takes.ONE: re.compile(r"[^\s\"'\[\]][^\"\[\]\n]*"),
    Takes.LIST: re.compile(r"[^\s\"'\[\],][^\"\[\],\n]*"),
    Takes.PAIR: re.compile(r"[^\s\"'\[\]](?:(?!\s+and\s)[^\"\[\]\n])*", re.IGNORECASE),
}
_CURLY = "“”„«»"


class Complain(Protocol):
    """Makes the error for a message and the character where it shows."""

    def __call__(self, message: str, offset: int) -> ValueError:
        """Return the error to raise."""
        ...


class Text:
    """A text that is read from left to right; `at` is how far."""

    def __init__(self, whole: str, at: int, complain: Complain) -> None:
        self.whole, self.at, self.complain = whole, at, complain

    @property
    def at_end(self) -> bool:
        """Say whether everything was read."""
        return not self.whole[self.at :].strip()

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what the pattern finds right here, and move behind it."""
        found = pattern.match(self.whole, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def skip_spaces(self) -> None:
        """Move to the next character that is not white space."""
        rest = self.whole[self.at :]
        self.at += len(rest) - len(rest.lstrip())

    def has(self, character: str) -> bool:
        """Say whether this character stands here, and move behind it if so."""
        self.skip_spaces()
        found = self.whole.startswith(character, self.at)
        self.at += found
        return found

    def unescaped(self, quoted: str, at: int) -> str:
        """Return the text of a JSON string."""
        try:
            return str(json.loads(quoted, strict=False))
        except ValueError:
            raise self.complain("a backslash in quotes escapes as in JSON: write \\\\ for itself", at) from None


def read_values(text: Text, takes: Takes) -> Value:
    """Return the value or values up to the end of the text."""
    value = _some(text, takes)
    text.skip_spaces()
    if not text.at_end:
        raise text.complain(_left_over(text), text.at)
    return value


def _some(text: Text, takes: Takes) -> Value:
    match takes:
        case Takes.NOTHING:
            return None
        case Takes.ONE:
            return _one(text, takes)
        case Takes.PAIR:
            return _pair(text)
        case Takes.LIST:
            return _list(text)


def _left_over(text: Text) -> str:
    rest = text.whole[text.at]
    if rest == "[":
        return "a list goes with in and not in"
    return "nothing may follow here; a value with quotes or brackets inside is written in double quotes"


def _pair(text: Text) -> Value:
    low = _one(text, Takes.PAIR)
    if text.take(_AND) is None:
        raise text.complain("a span has two ends: write between 09:00 and 17:00", text.at)
    return low, _one(text, Takes.PAIR)


def _list(text: Text) -> Value:
    bracket = text.has("[")
    if bracket and text.has("]"):
        raise text.complain("the list is empty: write at least one value", text.at - 1)
    values = [_one(text, Takes.LIST)]
    while text.has(","):
        values.append(_one(text, Takes.LIST))
    if bracket and not text.has("]"):
        raise text.complain("the list is not closed: write ] at its end", text.at)
    return tuple(values)


def _one(text: Text, takes: Takes) -> Scalar:
    text.skip_spaces()
    if text.at_end:
        raise text.complain("a value is missing", text.at)
    start = text.at
    quoted = text.take(_QUOTED)
    if quoted is not None:
        return text.unescaped(quoted[0], start)
    apostrophes = text.take(_APOSTROPHES)
    if apostrophes is not None:
        return apostrophes[1].replace("''", "'")
    bare = text.take(_BARE[takes])
    if bare is None:
        raise text.complain(_why_no_value(text), start)
    written = bare[0].rstrip()
    text.at = start + len(written)
    if any(mark in written for mark in _CURLY):
        raise text.complain('write straight quotes: "…"', start)
    return _meaning(written)


def _why_no_value(text: Text) -> str:
    match text.whole[text.at]:
        case '"' | "'":
            return "the quotes are not closed"
        case "[":
            return "a list goes with in and not in"
    return "a value is missing here"


def _meaning(written: str) -> Scalar:
    if written in ("true", "false"):
        return written == "true"
    if not _NUMBER.fullmatch(written):
        return written
    number = float(written) if "." in written else int(written)
    exact = Decimal(repr(number)) == Decimal(written) and abs(number) <= LARGEST_NUMBER
    return number if exact and written != "-0" else written


def joined(values: Sequence[str], takes: Takes) -> str:
    """Return written values as they stand in a sentence."""
    match takes:
        case Takes.LIST:
            return f"[{', '.join(values)}]"
        case Takes.PAIR:
            return " and ".join(values)
    return values[0]


def value_text(value: Scalar, takes: Takes, *, quoted: bool = False) -> str:
    """Return one value as a sentence has it: a text bare where that reads as itself, or else in quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return format(Decimal(repr(value)), "f")
    plain = not quoted and _BARE[takes].fullmatch(value) and value == value.rstrip() and value.isprintable()
    return value if plain and _meaning(value) == value else json.dumps(value, ensure_ascii=False)
