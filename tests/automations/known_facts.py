"""Facts as a dictionary, for tests of what conditions and templates see."""

from __future__ import annotations

from collections.abc import Mapping


class KnownFacts:
    """A fact source over two dictionaries: values by path, and references of those that are personal."""

    def __init__(self, values: Mapping[str, object], personal: Mapping[str, str] | None = None) -> None:
        self._values = values
        self._personal = personal or {}

    def value(self, path: str) -> object | None:
        """Return the value, or None."""
        return self._values.get(path)

    def reference(self, path: str) -> str | None:
        """Return the reference of a personal value."""
        return self._personal.get(path)
