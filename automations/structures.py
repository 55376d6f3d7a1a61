"""Named values as settings give them: JSON of bounded size, whose texts are templates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from domain.fields import LONGEST_TEXT, without_controls
from domain.text_values import shown

DEEPEST = 5
"""Structures within structures."""

MOST_VALUES = 200
"""Names and items in all."""

LARGEST_NUMBER = 2**53
"""Beyond this, readers of JSON in other languages no longer tell neighbours apart (RFC 8785)."""

Path = tuple[str | int, ...]


def read_structure(value: object) -> dict[str, Any]:
    """Return named values as JSON, or refuse what JSON or a reasonable reader cannot hold."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{shown(value)} is not a mapping of names to values")
    read: dict[str, Any] = _read(value, 0)
    if sum(1 for _ in _walk(read, ())) > MOST_VALUES:
        raise ValueError(f"there are more than {MOST_VALUES} values in it")
    return read


def texts_in(structure: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Return each text with its place."""
    return ((path, value) for path, value in _walk(structure, ()) if isinstance(value, str))


def with_texts(structure: Any, change: Callable[[Path, str], str], path: Path = ()) -> Any:
    """Return the structure with each text changed."""
    match structure:
        case str():
            return change(path, structure)
        case Mapping():
            return {name: with_texts(value, change, (*path, name)) for name, value in structure.items()}
        case list():
            return [with_texts(value, change, (*path, index)) for index, value in enumerate(structure)]
        case _:
            return structure


def _walk(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if path:
        yield path, value
    for name, part in _parts(value):
        yield from _walk(part, (*path, name))


def _parts(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _read(value: object, depth: int) -> Any:
    if depth > DEEPEST:
        raise ValueError(f"values nest at most {DEEPEST} deep")
    match value:
        case None | bool():
            return value
        case str():
            return _text(value)
        case int() | float():
            return _number(value)
        case list() | tuple():
            return [_read(item, depth + 1) for item in value[: MOST_VALUES + 1]]
        case Mapping():
            return {_name(name): _read(part, depth + 1) for name, part in value.items()}
    raise ValueError(f"{shown(value)} is not a text, a number, yes or no, a list or a mapping")


def _number(value: int | float) -> int | float:
    if abs(value) <= LARGEST_NUMBER:  # neither infinity nor what is no number is
        return value
    raise ValueError(f"{shown(value)} is too large a number: write it as text")


def _text(value: str) -> str:
    if len(value) > LONGEST_TEXT:
        raise ValueError(f"a text has at most {LONGEST_TEXT} characters")
    return without_controls(value)


def _name(name: object) -> str:
    if not isinstance(name, str) or not name or len(name) > 100:
        raise ValueError(f"{shown(name)} is not a name of 1 to 100 characters")
    return without_controls(name)
