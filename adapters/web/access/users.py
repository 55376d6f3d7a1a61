"""Users: people with a role and a password, who sign in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import argon2
import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.account_tables import sessions, users
from adapters.database.engine import reading, writing
from adapters.database.event_log import EventLog
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from adapters.web.access.proofs import new_secret
from automations.ports import Clock
from domain.accounts import (
    LONGEST_PASSWORD,
    UserAdded,
    UserDisabled,
    UserEnabled,
    UserEvent,
    UserPasswordSet,
    UserRoleGiven,
    checked_name,
    checked_password,
    checked_role,
    user_stream,
)
from domain.errors import InvalidInput, Unavailable

AT_ONCE = threading.BoundedSemaphore(2)
"""Passwords that are worked out at a time: each takes 64 megabytes, on purpose."""

LONGEST_WAIT = 5.0
"""Seconds that anybody waits for their turn, so that guessers do not keep all threads of a server busy."""

_HASHER = argon2.PasswordHasher()


@dataclass(frozen=True, slots=True)
class User:
    """A user as people see it."""

    name: str
    role: str
    created_at: datetime
    disabled_at: datetime | None

    def to_json(self) -> dict[str, Any]:
        """Return the form for lists."""
        status = "active" if self.disabled_at is None else "disabled"
        return {"name": self.name, "role": self.role, "status": status, "created_at": self.created_at}


class UserDesk:
    """Adds and changes users, and knows their passwords; serves any thread. Whatever changes ends their sessions."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def add(self, name: str, role: str, password: str, by: str) -> None:
        """Let somebody sign in; raises InvalidInput where there is a user of this name."""
        given = checked_role(role)
        row = {
            "name": checked_name(name),
            "role": given,
            "password": made_of(checked_password(password, name)),
            "created_at": self._clock.now(),
        }

        def attempt() -> None:
            with unit_of_work(self._log, "user") as work:
                work.lock_head()
                if _find(work.connection, name) is not None:
                    raise InvalidInput(f"there is a user called {name!r} already")
                work.connection.execute(sa.insert(users), row)
                self._append(work, UserAdded, name, by, role=given)

        retrying(attempt, sleep=time.sleep)

    def listed(self) -> list[User]:
        """Return all users, by their names."""
        with reading(self._log.engine) as connection:
            rows = connection.execute(sa.select(*_SHOWN).order_by(users.c.name))
            return [User(*row) for row in rows]

    def give_role(self, name: str, role: str, by: str) -> None:
        """Let a user do what a role may."""
        given = checked_role(role)
        self._change(name, {"role": given}, lambda work: self._append(work, UserRoleGiven, name, by, role=given))

    def set_password(self, name: str, password: str, by: str) -> None:
        """Give a user another password."""
        made = made_of(checked_password(password, name))
        self._change(name, {"password": made}, lambda work: self._append(work, UserPasswordSet, name, by))

    def disable(self, name: str, by: str) -> None:
        """Let a user sign in no more."""
        at = self._clock.now()
        self._change(name, {"disabled_at": at}, lambda work: self._append(work, UserDisabled, name, by))

    def enable(self, name: str, by: str) -> None:
        """Let a user who was disabled sign in again."""
        self._change(name, {"disabled_at": None}, lambda work: self._append(work, UserEnabled, name, by))

    def knows(self, name: str, password: str) -> bool:
        """Say whether this is the password of a user who may sign in; it takes as long for a name that nobody has."""
        with reading(self._log.engine) as connection:
            query = sa.select(users.c.password).where(users.c.name == name, users.c.disabled_at.is_(None))
            stored = connection.scalar(query) if name.isprintable() else None
        if not _fits(stored or _nobodys(), password[: LONGEST_PASSWORD + 1]) or stored is None:
            return False
        if _HASHER.check_needs_rehash(stored):
            with writing(self._log.engine) as connection:
                kept = sa.update(users).where(users.c.name == name, users.c.password == stored)
                connection.execute(kept.values(password=made_of(password)))
        return True

    def _change(self, name: str, values: dict[str, Any], record: Callable[[UnitOfWork], None]) -> None:
        def attempt() -> None:
            with unit_of_work(self._log, "user") as work:
                if work.connection.execute(sa.update(users).where(users.c.name == name).values(values)).rowcount == 0:
                    raise InvalidInput(f"no user is called {name[:64]!r}: semel user list shows them")
                work.connection.execute(sa.delete(sessions).where(sessions.c.user == name))
                record(work)

        retrying(attempt, sleep=time.sleep)

    def _append(self, work: UnitOfWork, kind: type[UserEvent], name: str, by: str, **more: Any) -> None:
        stream = user_stream(name)
        version = log_queries.last_versions(work.connection, [stream]).get(stream, 0) + 1
        work.append([kind(stream=stream, version=version, at=self._clock.now(), by=by, **more)])


@contextmanager
def _in_turn() -> Iterator[None]:
    if not AT_ONCE.acquire(timeout=LONGEST_WAIT):
        raise Unavailable("too many passwords are being worked out at this moment: try again")
    try:
        yield
    finally:
        AT_ONCE.release()


def made_of(password: str) -> str:
    """Return what is kept in the place of a password."""
    with _in_turn():
        return _HASHER.hash(password)


def _fits(stored: str, password: str) -> bool:
    try:
        with _in_turn():
            return _HASHER.verify(stored, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError, UnicodeEncodeError):
        return False


@cache
def _nobodys() -> str:
    """Return what no password fits."""
    return made_of(new_secret())


def _find(connection: sa.Connection, name: str) -> User | None:
    row = connection.execute(sa.select(*_SHOWN).where(users.c.name == name)).one_or_none()
    return None if row is None else User(*row)


_SHOWN = (users.c.name, users.c.role, users.c.created_at, users.c.disabled_at)
