"""Sets up a database, and brings an older one up to date, one numbered step at a time.

Several processes may do it at once: one does the work, and the others find it done.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from adapters.database import (
    account_tables,  # noqa: F401 - its tables are among those that are made
    callbacks,  # noqa: F401 - and so is this one
    schema,
)
from adapters.database import meta as known
from adapters.database.engine import place_of, reading, schema_of, writing
from adapters.database.failures import AlreadyRecorded, Contended, Unreachable
from adapters.database.upgrades import UPGRADES, Upgrade
from projections import columns

TABLES: tuple[sa.MetaData, ...] = (schema.metadata, columns.metadata)
"""All tables; those of projections are known once their modules are imported."""

ATTEMPTS = 5


def install(
    engine: sa.Engine,
    at: datetime,
    *,
    tables: Sequence[sa.MetaData] = TABLES,
    upgrades: Sequence[Upgrade] = UPGRADES,
) -> int:
    """Set up a database that has no tables yet, or bring an older one up to date; return its version.

    `at` is remembered as the instant of its making. A database that is up to date is left as it is. Raises
    Unavailable for one that a newer Semel has made.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _installed(engine, at, tables, upgrades)
        except (AlreadyRecorded, Contended):
            # Another process was creating the same tables; by now it has.
            if attempt == ATTEMPTS:
                raise
    raise AssertionError("unreachable")


def schema_version(engine: sa.Engine) -> int:
    """Return the version of the schema; 0 where the database is not set up."""
    with reading(engine) as connection:
        return _version(connection)


def newest_version(upgrades: Sequence[Upgrade] = UPGRADES) -> int:
    """Return the version of the schema that this Semel works on."""
    return len(upgrades) + 1


def require_current(engine: sa.Engine, upgrades: Sequence[Upgrade] = UPGRADES) -> None:
    """Do nothing where the schema is the one that this Semel works on; raises Unavailable otherwise."""
    version, newest = schema_version(engine), len(upgrades) + 1
    _refuse_newer(engine, version, newest)
    if version == 0:
        raise Unreachable(f"{place_of(engine.url)}: Semel is not set up here; `semel init` does it")
    if version < newest:
        raise Unreachable(
            f"{place_of(engine.url)}: the schema has version {version}, this Semel works on {newest};"
            " `semel migrate` brings it up to date"
        )


def _installed(engine: sa.Engine, at: datetime, tables: Sequence[sa.MetaData], upgrades: Sequence[Upgrade]) -> int:
    newest = len(upgrades) + 1
    _make_schema(engine)
    version = schema_version(engine)
    _refuse_newer(engine, version, newest)
    if version == 0:
        _set_up(engine, at, tables, newest)
    elif version < newest:
        _bring_up_to_date(engine, tables, upgrades)
    return newest


def _version(connection: sa.Connection) -> int:
    if not sa.inspect(connection).has_table(schema.meta.name):
        return 0
    return int(known.remembered(connection, known.SCHEMA_VERSION) or 0)


def _refuse_newer(engine: sa.Engine, version: int, newest: int) -> None:
    if version > newest:
        raise Unreachable(
            f"{place_of(engine.url)}: the schema has version {version}, but this Semel works on {newest};"
            " use a newer Semel"
        )


def _make_schema(engine: sa.Engine) -> None:
    name = schema_of(engine)
    if name is None:
        return
    with reading(engine) as connection:
        if sa.inspect(connection).has_schema(name):
            return
    with writing(engine) as connection:
        connection.execute(sa.schema.CreateSchema(name, if_not_exists=True))


def _set_up(engine: sa.Engine, at: datetime, tables: Sequence[sa.MetaData], newest: int) -> None:
    identity = known.identity_of(engine)
    with writing(engine) as connection:
        if _version(connection) > 0:
            return
        # First of all, because whoever else sets up the database waits here, and then fails.
        schema.meta.create(connection, checkfirst=True)
        for metadata in tables:
            metadata.create_all(connection)
        connection.execute(sa.insert(schema.head), {"id": 1, "position": 0})
        for name, value in (
            (known.SCHEMA_VERSION, str(newest)),
            (known.CREATED_AT, at.isoformat()),
            (known.SALT, secrets.token_hex(32)),
            (known.IDENTITY, identity),
        ):
            known.remember(connection, name, value)


def _bring_up_to_date(engine: sa.Engine, tables: Sequence[sa.MetaData], upgrades: Sequence[Upgrade]) -> None:
    with writing(engine) as connection:
        locked = sa.select(schema.meta.c.value).where(schema.meta.c.name == known.SCHEMA_VERSION)
        version = int(connection.execute(locked.with_for_update()).scalar_one())
        for upgrade in upgrades[version - 1 :]:
            upgrade(connection)
        for metadata in tables:
            metadata.create_all(connection)
        known.remember(connection, known.SCHEMA_VERSION, str(len(upgrades) + 1))
