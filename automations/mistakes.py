"""What is wrong in what somebody wrote, collected with the place of each mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from automations.registry import nearest
from domain.errors import InvalidInput, Mistake
from domain.text_values import shown

Path = tuple[str | int, ...]
"""From the root of a document to a value: keys of mappings and indexes of lists."""


class Key(str):
    """The last part of a path that means the key itself, not the value behind it."""

    __slots__ = ()


class Mistakes:
    """Everything found wrong so far; the reading goes on, so that all of it is told at once."""

    def __init__(self) -> None:
        self._found: list[Mistake] = []

    def __iter__(self) -> Iterator[Mistake]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, path: Path, message: str, offset: int = 0) -> None:
        """Keep one more mistake."""
        self._found.append(Mistake(path, message, offset))

    def extend(self, found: Iterable[Mistake], below: Path = ()) -> None:
        """Keep mistakes whose paths begin below this one."""
        self._found.extend(Mistake((*below, *each.path), each.message, each.offset) for each in found)

    def unknown_key(self, path: Path, key: object, known: Iterable[str]) -> None:
        """Keep that a mapping has a key that means nothing."""
        self.add((*path, Key(key)), f"there is no setting {shown(key)}{nearest(str(key), known)}")

    def raise_if_any(self) -> None:
        """Raise `InvalidInput` with all of them, if there are any."""
        if self._found:
            raise InvalidInput(self._found)


def mistakes_in(error: ValidationError, model: type[BaseModel], given: Mapping[str, Any]) -> Iterator[Mistake]:
    """Return what pydantic found wrong in the settings of a plug-in, in words that its author can act on."""
    seen: set[tuple[Path, str]] = set()
    for found in error.errors(include_url=False):
        path = _existing(found["loc"], given)
        mistake = _mistake(path, found, model)
        if (mistake.path, mistake.message) not in seen:
            seen.add((mistake.path, mistake.message))
            yield mistake


def _mistake(path: Path, found: Any, model: type[BaseModel]) -> Mistake:
    name = found["loc"][-1] if found["loc"] else ""
    match found["type"]:
        case "missing":
            return Mistake(path, f"{name!r} is missing")
        case "extra_forbidden":
            return Mistake(
                (*path[:-1], Key(name)),
                f"there is no setting {shown(name)}{nearest(str(name), _names(model))}",
            )
        case "value_error" | "assertion_error":
            return Mistake(path, found["msg"].partition(", ")[2] or found["msg"])
    message = found["msg"].removeprefix("Input ").replace("should be a valid string", "should be text")
    quotes = ": put it in quotes" if found["type"] == "string_type" and _is_number(found["input"]) else ""
    return Mistake(path, f"{path[-1] if path else 'it'} {message}, and not {shown(found['input'])}{quotes}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _existing(loc: tuple[str | int, ...], given: Any) -> Path:
    """Return as much of a place as the author wrote; pydantic adds the names of alternatives."""
    path: list[str | int] = []
    here = given
    for part in loc:
        inside: Any = dict(enumerate(here)) if isinstance(here, list) else here
        if isinstance(inside, Mapping) and part in inside:
            path.append(part)
            here = inside[part]
    return tuple(path)


def _names(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield field.alias or name
