"""The single settings of a rule, read by what they have to be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from automations.mistakes import Key, Mistakes, Path
from automations.registry import Registry, UnknownName, nearest
from domain.durations import Kind
from domain.ids import printable
from domain.offsets import Offset
from domain.text_values import shown

RULE_KEYS = (
    "id",
    "name",
    "when",
    "before",
    "after",
    "where",
    "do",
    "once",
    "give_up_after",
    "when_late",
    "enabled",
)
"""Every setting that a rule can have."""

T = TypeVar("T")


class FieldReader:
    """Reads the settings of one mapping; each leaves its mistake with its place."""

    def __init__(self, data: Mapping[Any, Any], path: Path, mistakes: Mistakes) -> None:
        self.data, self._path, self._mistakes = data, path, mistakes

    def mistake(self, name: str, message: str) -> None:
        """Keep that a setting's value is wrong."""
        self._mistakes.add((*self._path, name), message)

    def key_mistake(self, name: str, message: str) -> None:
        """Keep that a setting should not be there."""
        self._mistakes.add((*self._path, Key(name)), message)

    def missing(self, name: str, message: str = "") -> None:
        """Keep that a setting is not there; the place is the mapping."""
        self._mistakes.add(self._path, message or f"{name!r} is missing")

    def given(self, name: str) -> Any:
        """Return what was written, or None."""
        return self.data.get(name)

    def text(self, name: str, *, required: bool = False, longest: int = 1_000) -> str:
        """Return a printable text, or an empty one."""
        found = self.given(name)
        if found is None:
            if required:
                self.missing(name)
            return ""
        if not isinstance(found, str) or not found.strip():
            self.mistake(name, f"{name} is text, and not {shown(found)}{_quoted(found)}")
            return ""
        if len(found) > longest:
            self.mistake(name, f"{name} has at most {longest} characters, this one has {len(found)}")
            return ""
        return self._printable(name, found)

    def _printable(self, name: str, text: str) -> str:
        try:
            return printable(text)
        except ValueError as error:
            self.mistake(name, str(error))
            return ""

    def flag(self, name: str, *, default: bool) -> bool:
        """Return true or false."""
        found = self.data.get(name, default)
        if not isinstance(found, bool):
            self.mistake(name, f"{name} is true or false, and not {shown(found)}")
            return default
        return found

    def choice(self, name: str, choices: Iterable[str], *, default: str) -> str:
        """Return one of the choices."""
        found = self.data.get(name, default)
        known = tuple(choices)
        if found not in known:
            self.mistake(name, f"{name} is never {shown(found)}{nearest(str(found), known)}")
            return default
        return str(found)

    def plugin(self, name: str, registry: Registry[T]) -> type[T] | None:
        """Return the plug-in that a setting names."""
        found = self.text(name, required=True)
        try:
            return registry[found] if found else None
        except UnknownName as error:
            self.mistake(name, str(error))
            return None

    def offset(self, name: str) -> Offset | None:
        """Return an amount of time."""
        found = self.given(name)
        if found is None:
            return None
        try:
            offset = Offset.read(found)
        except ValueError as error:
            self.mistake(name, str(error))
            return None
        if name == "give_up_after" and offset.kind is Kind.MONTHS:
            self.mistake(name, f"{shown(str(offset))} has no fixed length: write days")
        return offset


def _quoted(found: object) -> str:
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return ": put it in quotes" if is_number else ""
