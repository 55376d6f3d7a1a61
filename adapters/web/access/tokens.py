"""Tokens of programs: made, listed, revoked, and recognised."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.account_tables import tokens
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from adapters.web.access.callers import Caller
from adapters.web.access.proofs import new_id, new_token, proof_of
from automations.ports import Clock
from domain.accounts import TokenCreated, TokenReplaced, TokenRevoked, checked_name, checked_scopes, token_stream
from domain.errors import InvalidInput

OVERLAP = timedelta(hours=24)
"""For how long a token works on after another one has taken its place."""

USED_EVERY = timedelta(minutes=1)
"""How often at most it is written down that a token was used."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made; `text` is shown this once and kept nowhere."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """A token as people see it, without anything that could be used."""

    id: str
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    def status(self, at: datetime) -> str:
        """Return whether it is active, expired or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= at else "active"

    def to_json(self, at: datetime) -> dict[str, Any]:
        """Return the form for lists."""
        return {
            "id": self.id,
            "name": self.name,
            "status": self.status(at),
            "scopes": list(self.scopes),
            "created_at": self.created_at,
            "created_by": self.created_by,
            "expires_at": self.expires_at,
            "last_used_at": self.last_used_at,
        }


class TokenDesk:
    """Makes and withdraws tokens, and knows them when they come; serves any thread."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._noted: dict[str, datetime] = {}

    def create(self, name: str, scopes: Iterable[str], by: str, lasts: timedelta | None = None) -> NewToken:
        """Make a token; raises InvalidInput where another active one has the name, or a scope does not exist."""
        name, allowed, at = checked_name(name), checked_scopes(scopes), self._clock.now()

        def attempt() -> NewToken:
            with unit_of_work(self._log, "token") as work:
                work.lock_head()  # of two that take one name, the second has to see the first
                if _active(work.connection, name, at):
                    told = f"there is an active token called {name!r}"
                    raise InvalidInput(f"{told}: rotate it, revoke it, or choose another name")
                return _made(work, name, allowed, at + lasts if lasts is not None else None, by, at)

        return retrying(attempt, sleep=time.sleep)

    def rotate(self, name: str, by: str, overlap: timedelta = OVERLAP) -> NewToken:
        """Make another token of the same name and scopes; those that there are work on for the overlap.

        The idempotency keys of a program are its name's, so that it does nothing twice under the new token. Raises
        InvalidInput where no active token has the name.
        """
        at = self._clock.now()

        def attempt() -> NewToken:
            with unit_of_work(self._log, "token") as work:
                work.lock_head()
                former = _active(work.connection, name, at)
                if not former:
                    raise _none_called(name)
                for token in former:
                    _replace(work, token, at + overlap, by, at)
                newest = former[-1]
                lasts = newest.expires_at - newest.created_at if newest.expires_at is not None else None
                return _made(work, name, newest.scopes, at + lasts if lasts is not None else None, by, at)

        return retrying(attempt, sleep=time.sleep)

    def listed(self) -> list[Token]:
        """Return all tokens, in the order of their making."""
        with reading(self._log.engine) as connection:
            return _listed(connection)

    def revoke(self, wanted: str, by: str) -> list[Token]:
        """Withdraw the token with this id, or the active ones of this name; they are worth nothing from now on."""
        at = self._clock.now()

        def attempt() -> list[Token]:
            with unit_of_work(self._log, "token") as work:
                found = _meant(_listed(work.connection), wanted, at)
                for token in found:
                    if token.revoked_at is None:
                        _revoke(work, token, by, at)
            return found

        return retrying(attempt, sleep=time.sleep)

    def known(self, proofs: Collection[bytes]) -> Mapping[bytes, Caller]:
        """Return whose tokens these are, of those that are worth something at this moment."""
        at = self._clock.now()
        alive = sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > at)
        query = sa.select(tokens.c.hash, tokens.c.id, tokens.c.name, tokens.c.scopes, tokens.c.last_used_at)
        with reading(self._log.engine) as connection:
            rows = connection.execute(
                query.where(tokens.c.hash.in_(list(proofs)), tokens.c.revoked_at.is_(None), alive)
            ).all()
        self._note({row.id: row.last_used_at for row in rows}, at)
        return {
            bytes(row.hash): Caller("token", row.id, f"token/{row.name}", frozenset(row.scopes), bytes(row.hash))
            for row in rows
        }

    def _note(self, used: Mapping[str, datetime | None], at: datetime) -> None:
        """Write down that tokens were used, each of them once a minute at most."""
        since = at - USED_EVERY
        due = [
            name
            for name, last in used.items()
            if (last is None or last <= since) and self._noted.get(name, since) <= since
        ]
        if not due:
            return
        self._noted |= dict.fromkeys(due, at)
        with writing(self._log.engine) as connection:
            connection.execute(sa.update(tokens).where(tokens.c.id.in_(due)).values(last_used_at=at))


def _listed(connection: sa.Connection) -> list[Token]:
    columns = [tokens.c[name] for name in Token.__dataclass_fields__]
    query = sa.select(*columns).order_by(tokens.c.created_at, tokens.c.id)
    rows = (row._mapping for row in connection.execute(query))
    return [Token(**{**row, "scopes": tuple(row["scopes"])}) for row in rows]


def _meant(known: Iterable[Token], wanted: str, at: datetime) -> list[Token]:
    found = [token for token in known if token.id == wanted or (token.name == wanted and token.status(at) == "active")]
    if not found:
        raise _none_called(wanted)
    return found


def _active(connection: sa.Connection, name: str, at: datetime) -> list[Token]:
    return [token for token in _listed(connection) if token.name == name and token.status(at) == "active"]


def _none_called(name: str) -> InvalidInput:
    return InvalidInput(f"no active token is called {name[:64]!r}: semel token list shows them")


def _made(
    work: UnitOfWork, name: str, scopes: tuple[str, ...], expires_at: datetime | None, by: str, at: datetime
) -> NewToken:
    text, identifier = new_token(), new_id()
    row: dict[str, Any] = {
        "id": identifier,
        "name": name,
        "hash": proof_of(text),
        "scopes": list(scopes),
        "created_at": at,
        "created_by": by,
        "expires_at": expires_at,
    }
    work.connection.execute(sa.insert(tokens), row)
    stream = token_stream(identifier)
    work.append([TokenCreated(stream=stream, version=1, at=at, name=name, scopes=scopes, expires_at=expires_at, by=by)])
    return NewToken(identifier, text)


def _revoke(work: UnitOfWork, token: Token, by: str, at: datetime) -> None:
    work.connection.execute(sa.update(tokens).where(tokens.c.id == token.id).values(revoked_at=at))
    stream = token_stream(token.id)
    work.append([TokenRevoked(stream=stream, version=_next_version(work, stream), at=at, by=by)])


def _replace(work: UnitOfWork, token: Token, ends_at: datetime, by: str, at: datetime) -> None:
    """Let a token be worth nothing from an instant on, if it is not before."""
    if token.expires_at is not None and token.expires_at <= ends_at:
        return
    work.connection.execute(sa.update(tokens).where(tokens.c.id == token.id).values(expires_at=ends_at))
    stream = token_stream(token.id)
    work.append([TokenReplaced(stream=stream, version=_next_version(work, stream), at=at, expires_at=ends_at, by=by)])


def _next_version(work: UnitOfWork, stream: str) -> int:
    return log_queries.last_versions(work.connection, [stream]).get(stream, 0) + 1
