"""Sessions: who is signed in on which browser, until they sign out, stay away too long, or a day's work is over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from adapters.database.account_tables import sessions, users
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.web.access.callers import Caller
from adapters.web.access.proofs import new_secret, proof_of
from automations.ports import Clock
from domain.accounts import SCOPES_OF, checked_role

SEEN_EVERY = timedelta(minutes=1)
"""How often at most it is written down that somebody is there."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a session lasts without a sign of its user, and how long at most."""

    idle: timedelta = timedelta(hours=1)
    longest: timedelta = timedelta(hours=12)


class Sessions:
    """Begins, recognises and ends sessions; serves any thread."""

    def __init__(self, log: EventLog, clock: Clock, lifetime: Lifetime) -> None:
        self._log = log
        self._clock = clock
        self._lifetime = lifetime

    def begin(self, user: str, instead_of: str = "") -> str:
        """Begin a session and return its secret, which is a new one at each sign-in; an earlier one ends."""
        secret, at = new_secret(), self._clock.now()
        with writing(self._log.engine) as connection:
            connection.execute(sa.delete(sessions).where(self._is_over(at)))
            if instead_of:
                connection.execute(sa.delete(sessions).where(sessions.c.hash == proof_of(instead_of)))
            row = {"hash": proof_of(secret), "user": user, "created_at": at, "seen_at": at}
            connection.execute(sa.insert(sessions), row)
        return secret

    def end(self, secret: str) -> None:
        """End a session; one that is over already is fine."""
        with writing(self._log.engine) as connection:
            connection.execute(sa.delete(sessions).where(sessions.c.hash == proof_of(secret)))

    def known(self, secret: str) -> Caller | None:
        """Return whose session this is, as long as it lasts and its user may sign in."""
        at, proof = self._clock.now(), proof_of(secret)
        query = (
            sa.select(users.c.name, users.c.role, sessions.c.seen_at)
            .join(users, users.c.name == sessions.c.user)
            .where(sessions.c.hash == proof, users.c.disabled_at.is_(None), ~self._is_over(at))
        )
        with reading(self._log.engine) as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            return None
        if row.seen_at <= at - SEEN_EVERY:
            with writing(self._log.engine) as connection:
                connection.execute(sa.update(sessions).where(sessions.c.hash == proof).values(seen_at=at))
        return Caller("user", row.name, row.name, SCOPES_OF[checked_role(row.role)], proof)

    def _is_over(self, at: datetime) -> sa.ColumnElement[bool]:
        idle, longest = at - self._lifetime.idle, at - self._lifetime.longest
        return sa.or_(sessions.c.seen_at <= idle, sessions.c.created_at <= longest)
