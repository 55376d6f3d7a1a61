"""What can be wrong, sorted by what the caller can do about it.

Expected endings of calls to services are values (`domain.executions`), never exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class SemelError(Exception):
    """The root of every error that Semel raises on purpose."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong in what somebody wrote, and where.

    `path` leads from the root of the document to the value: keys of mappings and indexes of lists.
    `offset` counts characters into a text value, where the fault lies inside a sentence.
    """

    path: tuple[str | int, ...]
    message: str
    offset: int = 0

    def __str__(self) -> str:
        place = ".".join(str(part) for part in self.path)
        return f"{place}: {self.message}" if place else self.message


class InvalidInput(SemelError):
    """The author has to change something; every mistake is named at once."""

    def __init__(self, mistakes: Iterable[Mistake] | str) -> None:
        listed = (Mistake((), mistakes),) if isinstance(mistakes, str) else tuple(mistakes)
        self.mistakes: tuple[Mistake, ...] = listed
        super().__init__("; ".join(str(mistake) for mistake in listed))


class Conflict(SemelError):
    """Somebody else was faster: read again and decide again."""


class Unavailable(SemelError):
    """It cannot be done now; the same call may succeed later."""


class CorruptEvent(SemelError):
    """A stored event cannot be read; it is set aside and stops only its own stream."""

    def __init__(self, stream: str, version: int, topic: str, reason: str) -> None:
        self.stream, self.version, self.topic, self.reason = stream, version, topic, reason
        super().__init__(f"{topic} at version {version} of {stream} cannot be read: {reason}")
