"""The languages in which somebody is told, the best first: never that of whoever asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from domain.facts import Entity


def languages(recipient: Entity | None, space: Entity | None, default: str) -> list[str]:
    """Return what to try: the recipient's language, that of the space, the operator's, and English.

    Each is followed by itself with less behind it: `pt-BR` by `pt`, `zh-Hant-TW` by `zh-Hant` and `zh` (RFC 4647).
    """
    return list(_wanted(_locale(recipient), _locale(space), default))


@lru_cache(maxsize=1024)
def _wanted(*named: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(wanted for locale in (*named, "en") if locale for wanted in _truncated(locale)))


def _locale(whose: Entity | None) -> str | None:
    value = None if whose is None else whose.get("locale")
    return str(value) if value else None


def _truncated(locale: str) -> Iterator[str]:
    yield locale
    parts = locale.replace("_", "-").split("-")
    yield from ("-".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
