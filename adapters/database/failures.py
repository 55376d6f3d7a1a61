"""What goes wrong in a database, as errors sorted by what the caller can do.

Errors are told apart by SQLSTATE on PostgreSQL and by result code on SQLite, never by the name of a
constraint. A fault of our own statements is passed on as it is: nobody can do anything about it but us.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import sqlalchemy as sa
from eventsourcing import persistence as es

from domain.errors import Conflict, InvalidInput, Unavailable


class AlreadyRecorded(Conflict, es.IntegrityError):
    """A row with this key is there already: somebody else was faster."""


class Contended(Unavailable, es.OperationalError):
    """Another transaction was in the way; the same one, begun anew, may succeed at once."""


class Unreachable(Unavailable, es.OperationalError):
    """The database cannot be used now: down, full, refused, or not set up.

    Where the connection broke during a commit, nobody knows whether it took place: whoever repeats the
    transaction must find out from what it would write.
    """


class Unstorable(InvalidInput, es.DataError):
    """The database cannot hold a value, such as text with a NUL character."""


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise what the database reports as one of the errors above; `place` names it to the reader."""
    try:
        yield
    except sa.exc.TimeoutError as error:
        raise Contended(f"{place}: all connections are in use; try again, or allow for more of them") from error
    except sa.exc.DBAPIError as error:
        known = _of_driver(error.orig, place)
        if known is None and error.connection_invalidated:
            known = Unreachable(f"{place}: the connection was lost")
        if known is None:
            raise
        raise known from error
    except UnicodeEncodeError as error:
        raise Unstorable(f"{place}: a text is not Unicode: {error.reason}") from error
    except (psycopg.Error, sqlite3.Error) as error:
        known = _of_driver(error, place)
        if known is None:
            raise
        raise known from error


def _of_driver(error: BaseException | None, place: str) -> Exception | None:
    if isinstance(error, sqlite3.Error):
        return _of_sqlite(error, place)
    if isinstance(error, psycopg.Error):
        return _of_postgresql(error, place)
    return None


_TAKEN = {
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
    sqlite3.SQLITE_CONSTRAINT_ROWID,
}

_SQLITE_REMEDIES = {
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened: check that its folder exists and may be written to",
    sqlite3.SQLITE_READONLY: "the file may not be written to: change its permissions, or those of its folder",
    sqlite3.SQLITE_PERM: "the file may not be used: change its permissions",
    sqlite3.SQLITE_FULL: "the disk is full: make room and try again",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
    sqlite3.SQLITE_NOTADB: "the file is not a SQLite database",
    sqlite3.SQLITE_CORRUPT: "the file is damaged: restore it from a backup",
}


def _of_sqlite(error: sqlite3.Error, place: str) -> Exception | None:
    # Errors of the driver itself carry no code.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    if code in _TAKEN:
        return AlreadyRecorded(f"{place}: {error}")
    if code & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return Contended(f"{place}: another process kept the file locked for too long; try again")
    if code & 0xFF in _SQLITE_REMEDIES:
        return Unreachable(f"{place}: {_SQLITE_REMEDIES[code & 0xFF]}")
    if "no such table" in str(error):
        return Unreachable(_not_set_up(place, error))
    if code & 0xFF == sqlite3.SQLITE_TOOBIG:
        return Unstorable(f"{place}: {error}")
    return None


_POSTGRESQL_REMEDIES = {
    "08": "the connection was lost",
    "25006": "the server takes no changes: it is a copy of another",
    "28": "the server refuses this user: check the name and the password",
    "3D": "the server has no such database: create it, or correct the URL",
    "3F": "the database has no such schema: set it up with `semel init`",
    "42501": "this user lacks a permission",
    "53": "the server has run out of room, memory or connections",
    "57": "the server is shutting down, or has ended the connection",
    "58": "the server reports an error of its system",
    # Only a cluster says this, when it loses a node while it commits.
    "XX000": "the server reports an internal error",
}


def _of_postgresql(error: psycopg.Error, place: str) -> Exception | None:
    state = error.sqlstate
    if state is None:
        return _without_state(error, place)
    if state in {"23505", "42P06", "42P07"}:
        return AlreadyRecorded(f"{place}: {_first_line(error)}")
    if state in {"40001", "40P01", "55P03"}:
        return Contended(f"{place}: another transaction was in the way; try again")
    if state == "42P01":
        return Unreachable(_not_set_up(place, error))
    if state.startswith(("22", "54")):
        return Unstorable(f"{place}: {_without_values(_first_line(error))}")
    for prefix, remedy in _POSTGRESQL_REMEDIES.items():
        if state.startswith(prefix):
            return Unreachable(f"{place}: {remedy} ({_first_line(error)})")
    return None


def _without_state(error: psycopg.Error, place: str) -> Exception | None:
    # Raised by the client: nobody answers, the line broke, or a value cannot be written.
    if isinstance(error, psycopg.DataError):
        return Unstorable(f"{place}: {_without_values(_first_line(error))}")
    if isinstance(error, psycopg.OperationalError):
        remedy = "check that the server runs, and the host, user, password and database of the URL"
        return Unreachable(f"{place}: no connection; {remedy} ({_first_line(error)})")
    return None


def _not_set_up(place: str, error: BaseException) -> str:
    return f"{place}: Semel is not set up here ({_first_line(error)}); `semel init` does it"


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def _without_values(told: str) -> str:
    """Return words of the database without what they quote: that may be personal, and a reason is recorded."""
    return _QUOTED.sub("…", told)


_QUOTED = re.compile(r""" "[^"]*"? | '[^']*'? """, re.VERBOSE)
