"""A log on a fresh database of each kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from adapters.database import schema
from adapters.database.engine import connect
from adapters.database.event_log import EventLog
from adapters.database.migrations import install
from tests.adapters.database.samples import AT

ALONE = (schema.metadata,)
"""The log's own tables: these tests need no projection."""


@pytest.fixture
def engine(database_url: str) -> Iterator[sa.Engine]:
    """An engine with the tables of the log."""
    engine = connect(database_url)
    install(engine, AT, tables=ALONE)
    yield engine
    engine.dispose()


@pytest.fixture
def log(engine: sa.Engine) -> Iterator[EventLog]:
    """An empty log."""
    log = EventLog(engine)
    yield log
    log.close()


@pytest.fixture
def postgresql_log(postgresql_url: str) -> Iterator[EventLog]:
    """An empty log on PostgreSQL, for what the two databases differ in."""
    engine = connect(postgresql_url)
    install(engine, AT, tables=ALONE)
    log = EventLog(engine)
    yield log
    log.close()
    engine.dispose()
