"""What a database knows about itself: a few small texts, each under a name."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from adapters.database.engine import reading, writing
from adapters.database.failures import Unreachable
from adapters.database.schema import meta

SCHEMA_VERSION = "schema-version"
CREATED_AT = "created-at"
SALT = "salt"
IDENTITY = "identity"
HELD = "held-since-restore"
"""Remembered while everything waits in a restored database."""


def remembered(connection: sa.Connection, name: str) -> str | None:
    """Return what was remembered under a name, or None."""
    return connection.scalar(_REMEMBERED, {"wanted": name})


def remember(connection: sa.Connection, name: str, value: str) -> None:
    """Remember a text under a name, in place of what was there."""
    if connection.execute(_CHANGE, {"wanted": name, "new": value}).rowcount == 0:
        connection.execute(sa.insert(meta), {"name": name, "value": value})


def forget(connection: sa.Connection, name: str) -> None:
    """Forget what was remembered under a name, if anything."""
    connection.execute(_FORGET, {"wanted": name})


def salt(connection: sa.Connection) -> bytes:
    """Return the secret that goes into hashes of outside events, so that nobody can guess what was hashed."""
    value = remembered(connection, SALT)
    if value is None:
        raise Unreachable("the database has lost its salt: restore it from a backup")
    return bytes.fromhex(value)


def is_copy(engine: sa.Engine) -> bool:
    """Return whether a PostgreSQL database was copied, or restored elsewhere, since it was set up or accepted.

    Of a SQLite file nothing certain can be said: copying back keeps its number, and a new disk changes it.
    """
    if engine.dialect.name == "sqlite":
        return False
    with reading(engine) as connection:
        stored = remembered(connection, IDENTITY)
    return stored != identity_of(engine)


def accept_identity(engine: sa.Engine) -> None:
    """Take a copy for the original from now on."""
    identity = identity_of(engine)
    with writing(engine) as connection:
        remember(connection, IDENTITY, identity)


def identity_of(engine: sa.Engine) -> str:
    """Return what tells this database from a copy of it.

    On PostgreSQL the identifier of the server's cluster and the number of the database; on SQLite the number
    of the file, which a copy has not, but which may change when its disk does.
    """
    if engine.dialect.name == "sqlite":
        path = engine.url.database
        if not path or path == ":memory:":
            return "memory"
        return f"file {Path(path).stat().st_ino}"
    with reading(engine) as connection:
        cluster, database = connection.execute(_IDENTITY).one()
    return f"cluster {cluster} database {database}"


_REMEMBERED = sa.select(meta.c.value).where(meta.c.name == sa.bindparam("wanted"))
_CHANGE = sa.update(meta).where(meta.c.name == sa.bindparam("wanted")).values(value=sa.bindparam("new"))
_FORGET = sa.delete(meta).where(meta.c.name == sa.bindparam("wanted"))
_IDENTITY = sa.text(
    "SELECT (SELECT system_identifier FROM pg_control_system()),"
    " (SELECT oid FROM pg_database WHERE datname = current_database())"
)
