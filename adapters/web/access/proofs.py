"""Secrets are made here, and turned into what is stored in their place."""

from __future__ import annotations

import hashlib
import hmac
import secrets

BITS = 256
"""So many random bits cannot be guessed, so a plain hash of them is safe to keep."""

PREFIX = "semel_"
"""Begins every token, so that a leaked one can be recognised for what it is."""

LONGEST = 200
"""Characters; what is longer is no secret of ours, and is not even hashed."""


def new_secret() -> str:
    """Return a secret that nobody has."""
    return secrets.token_urlsafe(BITS // 8)


def new_token() -> str:
    """Return the text of a token that nobody has."""
    return PREFIX + new_secret()


def new_id() -> str:
    """Return an id by which people name a token; it proves nothing."""
    return secrets.token_hex(5)


def proof_of(secret: str) -> bytes:
    """Return what is stored in the place of a secret, and finds it again."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def csrf_of(session_secret: str) -> str:
    """Return what a page has to send with each change: only who has the session can know it."""
    return hmac.new(session_secret.encode("utf-8", "surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def is_same(given: str, expected: str) -> bool:
    """Compare two secrets in a time that tells nothing about where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())
