"""Where the database is, and the two ways to use it: `reading` and `writing`.

An operator is one database: a SQLite file, or a schema of a PostgreSQL database. Nothing here is global,
so that one process can serve several operators. Pragmas and the way a transaction begins are all that
the two databases differ in.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event as sa_event

from adapters.database.failures import Unreachable, translated
from domain.errors import InvalidInput

OLDEST_SQLITE = (3, 38, 0)
OLDEST_POSTGRESQL = 150_000

BUSY_TIMEOUT = 10_000
"""Milliseconds that a SQLite connection waits for another process to finish writing."""

PRAGMAS = (
    "synchronous=FULL",  # an action costs money, so a claim has to survive a power cut
    "fullfsync=ON",
    "foreign_keys=ON",
    f"busy_timeout={BUSY_TIMEOUT}",
)

SESSION = {
    "timezone": "UTC",
    # Short questions are asked often; compiling one takes longer than answering it.
    "jit": "off",
    # A writer that froze would hold up all others for ever.
    "idle_in_transaction_session_timeout": "60s",
}
"""Settings of each PostgreSQL session, in milliseconds where there is no unit."""

_FORMS = "sqlite:///semel.db or postgresql+psycopg://user:password@host/database"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,49}")


def connect(url: str, *, schema: str | None = None, create: bool = True, **options: Any) -> sa.Engine:
    """Return the engine of a database; nothing is opened before the first transaction.

    `schema` is the operator's schema on PostgreSQL, which need not exist yet. Without `create` a SQLite
    file has to be there already. `options` go to `sqlalchemy.create_engine`. Raises InvalidInput for a
    URL that cannot mean a database of ours.
    """
    parsed = _parsed(url)
    if parsed.get_backend_name() == "sqlite":
        if schema is not None:
            raise InvalidInput(f"{place_of(parsed)}: schemas are for PostgreSQL; give each operator a file")
        return _sqlite_engine(parsed, create, options)
    return _postgresql_engine(parsed, schema, options)


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Hold one transaction that changes things; it commits at the end, or leaves nothing behind.

    On SQLite it is the only one from its beginning. Make no outside call inside, and be quick: others wait.
    Raises what `failures` describes.
    """
    with translated(place_of(engine.url)), engine.connect() as connection:
        connection.execution_options(semel_access="writing")
        with connection.begin():
            yield connection


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Hold one transaction that only looks, and never waits for one that writes.

    Whatever would change something in it fails, on both databases.
    """
    with translated(place_of(engine.url)), engine.connect() as connection:
        connection.execution_options(semel_access="reading", postgresql_readonly=True)
        with connection.begin():
            yield connection


@contextmanager
def asking(connection: sa.Connection) -> Iterator[None]:
    """Raise what `failures` describes already inside a transaction.

    For questions whose errors are told apart before the transaction is left.
    """
    try:
        yield
    except sa.exc.SQLAlchemyError:
        with translated(place_of(connection.engine.url)):
            raise


def place_of(url: sa.URL) -> str:
    """Return how a database is named to people: without its password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database or ":memory:")
    shown = {name: value for name, value in url.query.items() if name in {"host", "port"}}
    return url.set(query=shown).render_as_string(hide_password=True)


def schema_of(engine: sa.Engine) -> str | None:
    """Return the schema that an engine was made for, or None."""
    schema: str | None = engine.get_execution_options().get("semel_schema")
    return schema


def _parsed(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        # The text may hold a password, so it is not repeated.
        raise InvalidInput(f"this is not a database URL; write {_FORMS}") from None
    backend, _, driver = parsed.drivername.partition("+")
    if backend in {"postgresql", "postgres"} and driver in {"", "psycopg"}:
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and driver in {"", "pysqlite"}:
        return parsed
    raise InvalidInput(f"{parsed.drivername} is not a database that Semel works on; write {_FORMS}")


def _sqlite_engine(url: sa.URL, create: bool, options: dict[str, Any]) -> sa.Engine:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise Unreachable(f"SQLite {sqlite3.sqlite_version} is too old: 3.38 is needed")
    if url.host:
        raise InvalidInput(f"a SQLite URL has three slashes before its path: sqlite:///{url.host}")
    if url.database in {None, "", ":memory:"}:
        # One connection, which all threads of the process take in turn: it is the database.
        alone: dict[str, Any] = {"poolclass": sa.QueuePool, "pool_size": 1, "max_overflow": 0}
        options = alone | {"pool_timeout": 10} | options
        options["connect_args"] = {"check_same_thread": False} | options.get("connect_args", {})
    else:
        _check_file(Path(str(url.database)), create)
    engine = sa.create_engine(url, **options)
    sa_event.listen(engine, "connect", _prepare_sqlite)
    sa_event.listen(engine, "begin", _begin_sqlite)
    return engine


def _check_file(path: Path, create: bool) -> None:
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise InvalidInput(f"{path}: there is no folder {path.parent}; create it, or correct the path")
    if not create and not path.exists():
        raise InvalidInput(f"{path}: there is no such file; `semel init` makes it")


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    _use_write_ahead_log(connection)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    # On a new file this does not wait for other processes that do the same, whatever the timeout says.
    connection.execute("PRAGMA busy_timeout=0")
    for left in reversed(range(BUSY_TIMEOUT // 50)):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or not left:
                raise
            threading.Event().wait(0.05)


def _begin_sqlite(connection: sa.Connection) -> None:
    access = connection.get_execution_options().get("semel_access")
    driver: Any = connection.connection.driver_connection
    driver.execute(f"PRAGMA query_only={'ON' if access == 'reading' else 'OFF'}")
    # A transaction that begins by reading may find, when it comes to write, that it is too late.
    driver.execute("BEGIN IMMEDIATE" if access == "writing" else "BEGIN")


def _postgresql_engine(url: sa.URL, schema: str | None, options: dict[str, Any]) -> sa.Engine:
    settings = dict(SESSION)
    if schema is not None:
        if not _SCHEMA.fullmatch(schema):
            raise InvalidInput(f"{schema!r} cannot be a schema: write up to 50 of a-z, 0-9 and _")
        settings["search_path"] = schema
    _check_parameters(url)
    chosen = " ".join(f"-c {name}={value}" for name, value in settings.items())
    arguments = {"options": f"{url.query.get('options', '')} {chosen}".strip()}
    defaults = {"application_name": "semel", "connect_timeout": "10"}
    arguments |= {name: value for name, value in defaults.items() if name not in url.query}
    options = {"isolation_level": "READ COMMITTED"} | options
    options["execution_options"] = {"semel_schema": schema} | options.get("execution_options", {})
    options["connect_args"] = arguments | options.get("connect_args", {})
    engine = sa.create_engine(url, **options)
    sa_event.listen(engine, "connect", _check_postgresql)
    return engine


def _check_parameters(url: sa.URL) -> None:
    """Refuse what stands behind the question mark of a URL and means nothing to PostgreSQL."""
    from psycopg import ProgrammingError, conninfo

    given = {name: value if isinstance(value, str) else ",".join(value) for name, value in url.query.items()}
    try:
        conninfo.timeout_from_conninfo(conninfo.conninfo_to_dict(conninfo.make_conninfo("", **given)))
    except ProgrammingError as error:
        raise InvalidInput(f"the URL of the database, behind its question mark: {error}") from None


def _check_postgresql(connection: Any, _record: Any) -> None:
    version = connection.info.server_version
    if version < OLDEST_POSTGRESQL:
        raise Unreachable(f"PostgreSQL {version // 10_000} is too old: 15 is needed")
