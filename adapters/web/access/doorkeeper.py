"""The doorkeeper: finds out who calls from a bearer token or a session, and what a browser may be made to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import urlsplit

from adapters.web.access.callers import Caller, NotAllowed, NotSignedIn
from adapters.web.access.proofs import LONGEST, csrf_of, is_same, proof_of
from adapters.web.access.sessions import Sessions
from adapters.web.access.tokens import TokenDesk
from automations.ports import Clock
from domain.accounts import Scope

COOKIE = "semel_session"
CSRF_HEADER = "x-csrf-token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

TRUSTED_FOR = timedelta(seconds=30)
"""For how long a token that was good is let in where it is looked up again before anything is done."""

MOST_REMEMBERED = 10_000


class Knock(Protocol):
    """What the doorkeeper looks at: a request."""

    @property
    def method(self) -> str:
        """Return the method."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers, whose names are compared without regard to case."""
        ...

    @property
    def cookies(self) -> Mapping[str, str]:
        """Return the cookies."""
        ...


@dataclass(slots=True)
class Doorkeeper:
    """Knows callers; serves any thread."""

    tokens: TokenDesk
    sessions: Sessions
    clock: Clock
    _good: dict[bytes, tuple[Caller, datetime]] = field(default_factory=dict)

    def caller(self, knock: Knock) -> Caller:
        """Return who calls; raises NotSignedIn, and NotAllowed where a browser may have been tricked."""
        token = token_of(knock)
        if token is not None:
            return self._of_token(proof_of(token))
        secret = knock.cookies.get(COOKIE, "")
        caller = self.sessions.known(secret) if 0 < len(secret) <= LONGEST else None
        if caller is None:
            raise NotSignedIn("sign in, or send a token as Authorization: Bearer …")
        if knock.method not in SAFE:
            refuse_forged(knock, secret)
        return caller

    def admit(self, knock: Knock, scope: Scope) -> Caller:
        """Return who calls, if they may do what needs this scope."""
        caller = self.caller(knock)
        caller.require(scope)
        return caller

    def remembered(self, token: str) -> Caller | None:
        """Return whose token this was a moment ago, without a look into the database.

        Only for what looks all of its tokens up once more, with `TokenDesk.known`, before it does anything.
        """
        caller, since = self._good.get(proof_of(token), (None, None))
        if caller is None or since is None or self.clock.now() - since > TRUSTED_FOR:
            return None
        return caller

    def _of_token(self, proof: bytes) -> Caller:
        caller = self.tokens.known([proof]).get(proof)
        if caller is None:
            self._good.pop(proof, None)
            raise NotSignedIn("this token is not known, or it has expired or was revoked")
        if len(self._good) >= MOST_REMEMBERED:
            self._good.clear()
        self._good[proof] = (caller, self.clock.now())
        return caller


def token_of(knock: Knock) -> str | None:
    """Return the bearer token of a request, or None; raises NotSignedIn for any other kind of proof."""
    header = knock.headers.get("authorization")
    if header is None:
        return None
    kind, _, token = header.partition(" ")
    token = token.strip()
    if kind.lower() != "bearer" or not token or len(token) > LONGEST:
        raise NotSignedIn("send a token as Authorization: Bearer …")
    return token


def refuse_forged(knock: Knock, secret: str) -> None:
    """Raise NotAllowed for a change that another site may have made a browser ask for."""
    refuse_foreign(knock)
    if not is_same(knock.headers.get(CSRF_HEADER, ""), csrf_of(secret)):
        raise NotAllowed(f"the header {CSRF_HEADER} is missing or wrong: it is told when you sign in")


def refuse_foreign(knock: Knock) -> None:
    """Raise NotAllowed for what a page of another site sends."""
    origin = knock.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != knock.headers.get("host"):
        raise NotAllowed("this comes from a page of another site")
    if knock.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise NotAllowed("this comes from a page of another site")
