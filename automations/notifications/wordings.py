"""The templates of one operator, and the versions of them that deliveries were begun with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from domain.wordings import template_version

HTML = ".html"
"""What the name of a template ends with that is the same as another one in HTML."""

FALLBACK = "en"
"""The operator's language where they name none."""


@dataclass(frozen=True)
class Wording:
    """What a type says on a channel in a language; `html` is empty where there is none beside the text."""

    type: str
    channel: str
    locale: str
    text: str
    html: str = ""

    @cached_property
    def version(self) -> str:
        """Return the name of exactly this content."""
        return template_version(self.type, self.channel, self.locale, self.text, self.html)


class Published(Protocol):
    """Where versions are kept that deliveries were begun with."""

    def wording(self, version: str) -> Wording | None:
        """Return a version, or None where it was never used."""
        ...


class NothingPublished:
    """What keeps no versions."""

    def wording(self, version: str) -> Wording | None:
        """Return that it was never used."""
        return None


class Wordings:
    """The templates of one operator, by `<type>/<channel>.<locale>`, and `….html` for the same in HTML.

    `published` has those versions that are not here any more.
    """

    def __init__(
        self,
        templates: Mapping[str, str] | None = None,
        *,
        default_locale: str = FALLBACK,
        published: Published | None = None,
    ) -> None:
        self.default_locale = default_locale
        self._published = published or NothingPublished()
        self._by_channel: dict[str, dict[str, Wording]] = {}
        for name, text in sorted((templates or {}).items()):
            if not name.endswith(HTML):
                self._add(name, text, (templates or {}).get(f"{name}{HTML}", ""))
        self._by_version = {each.version: each for group in self._by_channel.values() for each in group.values()}

    def _add(self, name: str, text: str, html: str) -> None:
        type_name, _, rest = name.rpartition("/")
        channel, _, locale = rest.partition(".")
        group = self._by_channel.setdefault(f"{type_name}/{channel}", {})
        group[_folded(locale)] = Wording(type_name, channel, locale, text, html)

    def find(self, type_name: str, channel: str, locales: Iterable[str]) -> Wording | None:
        """Return the first wording there is for these languages, or else any, or None where there is none."""
        group = self._by_channel.get(f"{type_name}/{channel}", {})
        wanted = (_folded(locale) for locale in locales)
        return next((group[locale] for locale in (*wanted, *group) if locale in group), None)

    def of_version(self, version: str) -> Wording | None:
        """Return exactly this version, whatever the files say now."""
        return self._by_version.get(version) or self._published.wording(version)

    def channels_of(self, type_name: str) -> dict[str, list[str]]:
        """Return the languages in which a type has wording, by channel."""
        start = f"{type_name}/"
        groups = {name.removeprefix(start): group for name, group in self._by_channel.items() if name.startswith(start)}
        return {channel: [each.locale for each in group.values()] for channel, group in groups.items()}


def _folded(locale: str) -> str:
    return locale.replace("_", "-").casefold()
