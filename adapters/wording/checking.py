"""What is wrong, or probably meant otherwise, in an operator's notification types and templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.files.source_text import SourceText
from adapters.settings import Settings
from adapters.wording.files import own_templates, own_types, templates_of, types_of
from automations.notifications.type_reading import CHANNELS, no_channel
from automations.notifications.types import NotificationType
from automations.notifications.wordings import HTML
from automations.registry import nearest
from automations.templates import check
from domain.errors import InvalidInput
from domain.notifications import is_type_name
from domain.text_values import shown

_LOCALE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, slots=True)
class Checked:
    """The types that there are, and what is to be said about them; a mistake begins with its place."""

    types: Mapping[str, NotificationType]
    mistakes: Sequence[str]
    hints: Sequence[str]


def checked(settings: Settings) -> Checked:
    """Read everything, and find what is wrong."""
    mistakes: list[str] = []
    types: Mapping[str, NotificationType] = {}
    try:
        types = types_of(settings)
    except InvalidInput as error:
        mistakes += map(str, error.mistakes)
    try:
        found = list(own_templates(settings))
        mistakes += (mistake for path, name, text in found for mistake in _faults(path, name, text))
        mistakes += _html_alone(found)
        hints = [] if mistakes else list(_hints(settings, types))
    except InvalidInput as error:
        return Checked(types, [*mistakes, *map(str, error.mistakes)], [])
    return Checked(types, mistakes, hints)


def _faults(path: Path, name: str, text: str) -> Iterator[str]:
    """Yield what is wrong with the name or the content of one template."""
    type_name, _, rest = name.rpartition("/")
    parts = rest.removesuffix(HTML).split(".")
    if not is_type_name(type_name):
        yield f"{path}: the folder {shown(type_name)} cannot be the name of a type: a-z, 0-9, dots, dashes, underscores"
    if len(parts) != 2 or not _LOCALE.fullmatch(parts[1]):
        yield f"{path}: a template is called <channel>.<locale>.liquid, like email.de.liquid"
    elif parts[0] not in CHANNELS:
        yield f"{path}: {no_channel(parts[0])}"
    elif rest.endswith(HTML) and parts[0] != "email":
        yield f"{path}: only an email has HTML"
    if not text.strip():
        yield f"{path}:1:1: the template says nothing"
    source = SourceText(str(path), text)
    yield from (f"{source.place(mistake.offset)}: {mistake.message}" for mistake in check(text))


def _html_alone(found: Iterable[tuple[Path, str, str]]) -> Iterator[str]:
    listed = list(found)
    names = {name for _, name, _ in listed}
    for path, name, _ in listed:
        if name.endswith(HTML) and name.removesuffix(HTML) not in names:
            beside = path.name.replace(HTML, "", 1)
            yield f"{path}: there is no {beside} beside it, which goes out to who sees no HTML, and has the subject"


def _hints(settings: Settings, types: Mapping[str, NotificationType]) -> Iterator[str]:
    templates = templates_of(settings)
    worded = set(map(_channel_of, templates))
    for type_name in own_types(settings):
        channels = dict.fromkeys(channel for way in types[type_name].ways for channel in way)
        without = [channel for channel in channels if f"{type_name}/{channel}" not in worded]
        if len(without) == len(channels):
            yield f"{type_name} has no template: what is sent says only {type_name}"
        elif without:
            yield f"{type_name} has no template for {', '.join(without)}: what is sent there says only {type_name}"
    for type_name in sorted({name.rpartition("/")[0] for name in templates} - types.keys()):
        yield f"{settings.templates / type_name}: no type is called {type_name}{nearest(type_name, types)}"


def _channel_of(name: str) -> str:
    type_name, _, rest = name.rpartition("/")
    return f"{type_name}/{rest.partition('.')[0]}"
