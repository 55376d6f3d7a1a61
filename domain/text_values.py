"""Values that are written as one text, such as `18.50 EUR` or `2 days`, and how refusals show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from pydantic_core import CoreSchema, core_schema

LONGEST_SHOWN = 60
"""Characters of a refused value that a message repeats."""


def text_schema(read: Callable[[object], object]) -> CoreSchema:
    """Return how pydantic reads such a value (by `read`) and writes it (by `str`).

    `read` takes whatever stood there, also a value that was read before.
    """
    return core_schema.no_info_plain_validator_function(
        read,
        json_schema_input_schema=core_schema.str_schema(),
        serialization=core_schema.plain_serializer_function_ser_schema(str, return_schema=core_schema.str_schema()),
    )


def shown(value: object) -> str:
    """Return a refused value as a message shows it: quoted, printable, and never long."""
    if isinstance(value, str):
        return repr(value) if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]!r}…"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of enormous size"
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean Europe/Berlin?` for the nearest known name, or nothing.

    The case of letters does not count against a name.
    """
    if len(word) > LONGEST_SHOWN:
        return ""
    by_fold = {name.casefold(): name for name in known}
    nearest = get_close_matches(word.casefold(), by_fold, n=1, cutoff=0.7)
    return f"; did you mean {by_fold[nearest[0]]}?" if nearest else ""
