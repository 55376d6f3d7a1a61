"""Requests to tell somebody, as producers write them in JSON: read, with everything that is wrong with them.

Two requests are the same if their canonical JSON is (RFC 8785): neither the order of names nor white space
makes a difference, and 1 is 1.0. Of the request itself null, an empty list and an empty object mean the same
as what is left out; inside of the payload null is a value like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from automations.mistakes import Mistakes, Path
from automations.notifications.type_reading import CHANNELS
from automations.registry import nearest
from domain.commands import RequestNotification
from domain.errors import InvalidInput, Mistake
from domain.ids import LONGEST_ID, entity, id_of, kind_of, printable
from domain.notifications import STAFF, is_type_name
from domain.nouns import NOUNS
from domain.text_values import shown

LONGEST_KEY = 255
"""Characters of an idempotency key."""

LARGEST_PAYLOAD = 65_536
"""Characters of all names and texts of one payload."""

MOST_VALUES = 10_000
"""Values in one payload, and in what it holds."""

DEEPEST_PAYLOAD = 32
"""How many lists and objects of a payload may lie in each other."""

LARGEST_NUMBER = 2**53 - 1
"""The largest whole number that every reader of JSON has exactly."""

_SETTINGS = ("idempotency_key", "recipient", "type", "payload", "entity", "channels")


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request that means something; `identity` is the JSON value that its repeats have too."""

    key: str
    command: RequestNotification
    identity: object


def read_request(value: object, types: Collection[str]) -> ReadRequest:
    """Return what a request says; raises InvalidInput with every mistake. `types` are those that there are."""
    mistakes = Mistakes()
    if not isinstance(value, Mapping):
        raise InvalidInput(f"a request must be a JSON object, not {shown(value)}")
    for name in value:
        if name not in _SETTINGS:
            mistakes.unknown_key((), name, _SETTINGS)
    key = _key(value, mistakes)
    to = _recipient(value, mistakes)
    kind = _type(value, types, mistakes)
    about = _entity(value, mistakes)
    channels = _channels(value, mistakes)
    payload = _payload(value, mistakes)
    mistakes.raise_if_any()
    identity = [to, kind, about, list(channels), payload]
    command = RequestNotification(entity=about, to=to, type=kind, channels=channels, payload=payload)
    return ReadRequest(key, command, identity)


def refuse_producer(producer: str) -> None:
    """Raise InvalidInput for what cannot be the name of a producer from outside."""
    fault = _text_fault(producer, LONGEST_ID)
    if fault is None and producer.startswith("semel/"):
        fault = "begins with semel/, which stands for Semel itself"
    if fault is not None:
        raise InvalidInput([Mistake(("producer",), fault)])


def _key(value: Mapping[Any, Any], mistakes: Mistakes) -> str:
    """Return the key as it was given: any blank in it counts, and none is ever cut off."""
    given = value.get("idempotency_key")
    fault = "is missing" if given is None else _text_fault(given, LONGEST_KEY)
    if fault is not None:
        mistakes.add(("idempotency_key",), fault)
        return ""
    return str(given)


def _recipient(value: Mapping[Any, Any], mistakes: Mistakes) -> str:
    given: Any = value.get("recipient")
    place: Path = ("recipient",)
    if isinstance(given, Mapping) and set(given) == {"member_id"}:
        given, place = _member(given["member_id"]), ("recipient", "member_id")
    if given is None:
        mistakes.add(place, "is missing: write staff, or a member like member/m1")
    elif given != STAFF and not (isinstance(given, str) and kind_of(given) == "member" and _is_id(id_of(given))):
        mistakes.add(place, f"{shown(given)} is neither staff nor a member like member/m1")
    return str(given)


def _member(identifier: object) -> object:
    return entity("member", identifier) if isinstance(identifier, str) else identifier


def _type(value: Mapping[Any, Any], types: Collection[str], mistakes: Mistakes) -> str:
    given = value.get("type")
    if given is None:
        mistakes.add(("type",), "is missing")
    elif not isinstance(given, str) or not is_type_name(given):
        mistakes.add(("type",), f"{shown(given)} is not a name of a-z, 0-9, dots, dashes, underscores")
    elif given not in types:
        mistakes.add(("type",), f"there is no notification type {given!r}{nearest(given, types)}")
    return str(given)


def _entity(value: Mapping[Any, Any], mistakes: Mistakes) -> str:
    given = value.get("entity")
    if given is None or given == "":
        return ""
    if not isinstance(given, str) or not _is_id(id_of(given)):
        mistakes.add(("entity",), f"{shown(given)} is no entity like booking/b1")
    elif kind_of(given) not in NOUNS:
        mistakes.add(("entity",), f"nothing is called {shown(kind_of(given))}{nearest(kind_of(given), NOUNS)}")
    return str(given)


def _channels(value: Mapping[Any, Any], mistakes: Mistakes) -> tuple[str, ...]:
    given = value.get("channels")
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)):
        mistakes.add(("channels",), f"must be a list of channels, not {shown(given)}")
        return ()
    for index, name in enumerate(given):
        if name not in CHANNELS:
            mistakes.add(("channels", index), f"there is no channel {shown(name)}{nearest(str(name), CHANNELS)}")
        elif name in given[:index]:
            mistakes.add(("channels", index), f"{name} stands there twice")
    return tuple(map(str, given))


def _payload(value: Mapping[Any, Any], mistakes: Mistakes) -> dict[str, Any]:
    given = value.get("payload")
    if given is None:
        return {}
    if not isinstance(given, dict):
        mistakes.add(("payload",), f"must be an object, not {shown(given)}")
        return {}
    measured = _Measured()
    mistakes.extend(measured.faults(given, ("payload",), 1))
    if measured.characters > LARGEST_PAYLOAD:
        mistakes.add(("payload",), f"has more than {LARGEST_PAYLOAD:,} characters")
    if measured.values > MOST_VALUES:
        mistakes.add(("payload",), f"holds more than {MOST_VALUES:,} values")
    return given


@dataclass(slots=True)
class _Measured:
    """The size of a payload as far as it was looked at."""

    values: int = 0
    characters: int = 0

    def faults(self, value: object, path: Path, depth: int) -> Iterator[Mistake]:
        """Yield what JSON cannot carry exactly to every reader, or not at all."""
        self.values += 1
        if self.values > MOST_VALUES or self.characters > LARGEST_PAYLOAD:
            return
        match value:
            case None | bool():
                return
            case str():
                yield from self._of_text(value, path)
            case int() | float():
                yield from _number_faults(value, path)
            case dict() | list():
                yield from self._inside(value, path, depth)
            case _:
                yield Mistake(path, f"{type(value).__name__} is no JSON")

    def _of_text(self, text: str, path: Path) -> Iterator[Mistake]:
        self.characters += len(text)
        if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
            yield Mistake(path, "holds half a character (a lone surrogate)")

    def _inside(self, value: Mapping[Any, Any] | list[Any], path: Path, depth: int) -> Iterator[Mistake]:
        if depth > DEEPEST_PAYLOAD:
            yield Mistake(path, f"lies more than {DEEPEST_PAYLOAD} deep")
            return
        if isinstance(value, list):
            for index, each in enumerate(value):
                yield from self.faults(each, (*path, index), depth + 1)
            return
        for name, each in value.items():
            yield from self._of_text(name, path) if isinstance(name, str) else _no_name(name, path)
            yield from self.faults(each, (*path, str(name)), depth + 1)


def _no_name(name: object, path: Path) -> Iterator[Mistake]:
    yield Mistake(path, f"the name {shown(name)} must be text")


def _number_faults(number: float, path: Path) -> Iterator[Mistake]:
    if isinstance(number, int):
        if abs(number) > LARGEST_NUMBER:
            yield Mistake(path, "is too large a number to be exact in JSON: write it as text")
    elif not math.isfinite(number):
        yield Mistake(path, f"{number} is no number in JSON")


def _text_fault(given: object, longest: int) -> str | None:
    if not isinstance(given, str):
        return f"must be text, not {shown(given)}"
    if not given:
        return "is empty"
    if len(given) > longest:
        return f"has {len(given):,} characters, {longest} is the most"
    return _refused_by(printable, given)


def _refused_by(check: Callable[[str], str], text: str) -> str | None:
    try:
        check(text)
    except ValueError as error:
        return str(error)
    return None


def _is_id(text: str) -> bool:
    return _text_fault(text, LONGEST_ID) is None
