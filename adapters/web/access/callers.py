"""A caller: who it is, as the log will say, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from domain.accounts import Scope
from domain.errors import SemelError


class NotSignedIn(SemelError):
    """Nobody knows who calls: no token and no session, or one that is worth nothing (any more)."""


class NotAllowed(SemelError):
    """The caller is known, and may not do this."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls. `id` is that of the token, or the name of the user; `by` is what the log says of their acts."""

    kind: Literal["token", "user"]
    id: str
    by: str
    scopes: frozenset[str]
    proof: bytes

    def may(self, scope: Scope) -> bool:
        """Say whether the caller may do what needs this scope."""
        return scope in self.scopes or "admin" in self.scopes

    def require(self, scope: Scope) -> None:
        """Raise NotAllowed where the caller may not do what needs this scope."""
        if not self.may(scope):
            raise NotAllowed(f"{self.by} has not the scope {scope}")
