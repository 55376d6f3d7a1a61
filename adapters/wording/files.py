"""The wording of one operator: the file of notification types, and the folder of templates.

Both are read as they are. A template that cannot be worked out fails only what is sent with it, so that a
mistake in one language leaves the others alone; `checking` names such mistakes beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from adapters.files.source_text import source_of
from adapters.files.yaml_source import read_document, read_documents
from adapters.settings import Settings
from adapters.wording import SUFFIX, packaged_templates, packaged_types
from automations.notifications.type_reading import read_types
from automations.notifications.types import NotificationType
from automations.notifications.wordings import HTML
from domain.errors import InvalidInput


def types_of(settings: Settings) -> dict[str, NotificationType]:
    """Return the types that there are: the operator's take the place of packaged ones.

    Raises InvalidInput with the line and column of every mistake in the file.
    """
    return {**packaged_types(), **own_types(settings)}


def own_types(settings: Settings) -> Mapping[str, NotificationType]:
    """Return the types that the operator defines."""
    path = settings.notifications
    content = _content(path, asked_for="notifications" in settings.model_fields_set)
    return {} if content is None else _types_in(content, str(path))


@lru_cache(maxsize=8)
def _types_in(content: bytes, name: str) -> Mapping[str, NotificationType]:
    """Return the types of a file; the same content is read once, however often a server asks."""
    if not read_documents(content, name):
        return MappingProxyType({})
    document = read_document(content, name)
    try:
        return MappingProxyType(read_types(document.value))
    except InvalidInput as error:
        raise document.located(error) from None


def templates_of(settings: Settings) -> dict[str, str]:
    """Return the templates that there are: the operator's take the place of packaged ones.

    HTML that comes with Semel goes where its text was changed, since it would say something else.
    """
    own = {name: text for _, name, text in own_templates(settings)}
    packaged = {name: text for name, text in packaged_templates().items() if name.removesuffix(HTML) not in own}
    return {**packaged, **own}


def own_templates(settings: Settings) -> Iterator[tuple[Path, str, str]]:
    """Yield the file, the name and the text of each of the operator's templates, in the order of their names."""
    folder = settings.templates
    if not folder.is_dir():
        if "templates" in settings.model_fields_set:
            raise InvalidInput(f"{folder}: there is no such folder (the setting templates)")
        return
    for path in sorted(folder.glob(f"*/*{SUFFIX}")):
        content = _content(path, asked_for=True) or b""
        yield path, f"{path.parent.name}/{path.name.removesuffix(SUFFIX)}", source_of(content, str(path)).text


def _content(path: Path, *, asked_for: bool) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        if not asked_for:
            return None
        raise InvalidInput(f"{path}: there is no such file") from None
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or error}") from None
