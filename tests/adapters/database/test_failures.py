"""What a database reports becomes an error that says what to do."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest
import sqlalchemy as sa
from eventsourcing import persistence as es

from adapters.database.failures import AlreadyRecorded, Contended, Unreachable, Unstorable, translated
from domain.errors import Conflict, InvalidInput, Unavailable


def raised(error: Exception) -> Exception:
    """Return the error as a caller gets it."""
    with pytest.raises(Exception) as caught, translated("the place"):  # noqa: PT011 - any: the test looks
        raise error
    return caught.value


def of_sqlite(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("something")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (sqlite3.SQLITE_BUSY, Contended, "try again"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Contended, "try again"),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, Unreachable, "cannot be opened"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, Unreachable, "change its permissions"),
        (sqlite3.SQLITE_FULL, Unreachable, "make room"),
        (sqlite3.SQLITE_IOERR_WRITE, Unreachable, "disk reports an error"),
        (sqlite3.SQLITE_CORRUPT_INDEX, Unreachable, "from a backup"),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, AlreadyRecorded, "something"),
        (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, AlreadyRecorded, "something"),
        (sqlite3.SQLITE_TOOBIG, Unstorable, "something"),
        (sqlite3.SQLITE_ERROR, sqlite3.OperationalError, "something"),
        (sqlite3.SQLITE_CONSTRAINT_NOTNULL, sqlite3.OperationalError, "something"),
    ],
)
def test_sqlite_is_told_apart_by_its_result_code(code: int, kind: type[Exception], said: str) -> None:
    error = raised(of_sqlite(code))
    assert type(error) is kind
    assert said in str(error)


@pytest.mark.parametrize(
    ("state", "kind", "said"),
    [
        ("23505", AlreadyRecorded, "something"),
        ("42P07", AlreadyRecorded, "something"),
        ("40001", Contended, "try again"),
        ("40P01", Contended, "try again"),
        ("55P03", Contended, "try again"),
        ("08006", Unreachable, "connection was lost"),
        ("57P01", Unreachable, "ended the connection"),
        ("53100", Unreachable, "run out of room"),
        ("28P01", Unreachable, "name and the password"),
        ("3D000", Unreachable, "no such database"),
        ("42501", Unreachable, "permission"),
        ("42P01", Unreachable, "`semel init`"),
        ("25006", Unreachable, "takes no changes"),
        ("XX000", Unreachable, "internal error"),
        ("22001", Unstorable, "something"),
        ("54000", Unstorable, "something"),
        ("42601", psycopg.Error, "something"),
        ("23502", psycopg.Error, "something"),
    ],
)
def test_postgresql_is_told_apart_by_sqlstate(state: str, kind: type[Exception], said: str) -> None:
    error = raised(psycopg.errors.lookup(state)("something\nDETAIL: with a value"))
    assert isinstance(error, kind)
    assert said in str(error)
    if kind is not psycopg.Error:
        assert "DETAIL" not in str(error)
        assert str(error).startswith("the place: ")


def test_what_sqlalchemy_wrapped_is_looked_into() -> None:
    wrapped = sa.exc.OperationalError("SELECT 1", {}, of_sqlite(sqlite3.SQLITE_BUSY))
    assert isinstance(raised(wrapped), Contended)
    unknown = sa.exc.OperationalError("SELECT 1", {}, of_sqlite(sqlite3.SQLITE_ERROR))
    assert raised(unknown) is unknown


def test_each_error_is_one_of_the_domain_and_one_of_the_library() -> None:
    assert issubclass(AlreadyRecorded, Conflict)
    assert issubclass(AlreadyRecorded, es.IntegrityError)
    assert issubclass(Contended, Unavailable)
    assert issubclass(Unreachable, es.OperationalError)
    assert issubclass(Unstorable, InvalidInput)


def test_errors_of_others_pass_through() -> None:
    error = Conflict("of somebody else")
    assert raised(error) is error
