"""The file of notification types: its settings read, with the place of everything that is wrong in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from automations.mistakes import Key, Mistakes, Path, mistakes_in
from automations.notifications.channels import SCHEDULES, WITHOUT_ADDRESS
from automations.notifications.types import NotificationType
from automations.registry import nearest
from domain.errors import Mistake
from domain.notifications import is_type_name
from domain.text_values import shown

CHANNELS = frozenset(SCHEDULES) | WITHOUT_ADDRESS
"""The channels that a type, a request or a template can name."""

_LISTS = ("channels", "first_of")


def no_channel(name: str) -> str:
    """Return that there is no such channel, with the nearest one that there is."""
    return f"there is no channel {shown(name)}{nearest(name, CHANNELS)}"


def read_types(value: object) -> dict[str, NotificationType]:
    """Return the types that a file defines, by name; raises InvalidInput with every mistake and its place.

    A file that says nothing defines none.
    """
    mistakes = Mistakes()
    if value is not None and not isinstance(value, Mapping):
        mistakes.add((), f"types are a mapping from names to what each is like, and not {shown(value)}")
    given: Mapping[Any, Any] = value if isinstance(value, Mapping) else {}
    found = {str(name): _read_type(name, settings, mistakes) for name, settings in given.items()}
    mistakes.raise_if_any()
    return {name: kind for name, kind in found.items() if kind is not None}


def _read_type(name: object, settings: object, mistakes: Mistakes) -> NotificationType | None:
    if not isinstance(name, str) or not is_type_name(name):
        place: Path = (Key(name),) if isinstance(name, str) else ()
        mistakes.add(place, f"{shown(name)} is not a name of a-z, 0-9, dots, dashes, underscores")
        return None
    written = {} if settings is None else settings
    if not isinstance(written, dict):
        mistakes.add((name,), f"a type is a mapping such as {{channels: [email]}}, and not {shown(written)}")
        return None
    mistakes.extend(_channel_mistakes(written), (name,))
    try:
        return NotificationType.model_validate(written)
    except ValidationError as error:
        mistakes.extend(mistakes_in(error, NotificationType, written), (name,))
        return None


def _channel_mistakes(settings: Mapping[str, Any]) -> Iterator[Mistake]:
    for setting in _LISTS:
        named = settings.get(setting)
        if isinstance(named, list):
            yield from _unknown(named, setting)


def _unknown(named: Iterable[object], setting: str) -> Iterator[Mistake]:
    seen: set[object] = set()
    for index, name in enumerate(named):
        if not isinstance(name, str):
            continue  # pydantic says so
        if name not in CHANNELS:
            yield Mistake((setting, index), no_channel(name))
        elif name in seen:
            yield Mistake((setting, index), f"{name} stands there twice")
        seen.add(name)
