"""A fresh database for each scenario, which is gone afterwards."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import event as sa_event

from adapters.database.engine import connect, writing


class Place(NamedTuple):
    """Where a database is: its URL, and its schema on PostgreSQL."""

    url: str
    schema: str | None = None


@contextmanager
def fresh_database(url: str | None) -> Iterator[Place]:
    """Lend an embedded database, or a schema in the PostgreSQL database of a URL."""
    if url is None or url.startswith("sqlite"):
        with tempfile.TemporaryDirectory(prefix="semel-scenario-", ignore_cleanup_errors=True) as folder:
            yield Place(f"sqlite:///{Path(folder, 'scenario.db')}")
        return
    schema = f"semel_scenario_{uuid.uuid4().hex}"
    try:
        yield Place(url, schema)
    finally:
        _drop(url, schema)


def without_durability(engine: sa.Engine) -> None:
    """Spare a file that is about to be thrown away the wait for its disk."""
    if engine.dialect.name == "sqlite":
        sa_event.listen(engine, "connect", _relax)


def _relax(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA synchronous=OFF")


def _drop(url: str, schema: str) -> None:
    engine = connect(url)
    try:
        with writing(engine) as connection:
            connection.execute(sa.schema.DropSchema(schema, cascade=True, if_exists=True))
    finally:
        engine.dispose()
