"""Kinds of id and how each is made.

An entity is written `booking/b1`: its kind, a slash, and the id that its owner gave it. That text is
also the id of its stream. Ids that a repeat must hit again are digests of length-prefixed parts, so
that "ab" + "c" is never "a" + "bc".
"""

from __future__ import annotations

import hashlib
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

LONGEST_ID = 200
"""Characters; long enough for any UUID or URL slug, short enough for an index entry."""


def printable(text: str) -> str:
    """Return the text, or refuse characters that no database, header or terminal can carry."""
    if text.isprintable():
        return text
    for character in text:
        if not character.isprintable():
            raise ValueError(f"holds the unprintable character U+{ord(character):04X}")
    return text


Id = Annotated[
    str,
    StringConstraints(min_length=1, max_length=LONGEST_ID, strip_whitespace=False),
    AfterValidator(printable),
]


def entity(kind: str, identifier: str) -> str:
    """Return how an entity is written: `entity("booking", "b1")` is `booking/b1`."""
    return f"{kind}/{identifier}"


def kind_of(entity_text: str) -> str:
    """Return the kind: `booking` of `booking/b1`."""
    return entity_text.partition("/")[0]


def id_of(entity_text: str) -> str:
    """Return the owner's id: `b1` of `booking/b1`."""
    return entity_text.partition("/")[2]


def digest(*parts: str) -> str:
    """Return the SHA-256, in hex, over the parts, each prefixed with its length in bytes."""
    hashed = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        hashed.update(b"%d:" % len(encoded))
        hashed.update(encoded)
    return hashed.hexdigest()
