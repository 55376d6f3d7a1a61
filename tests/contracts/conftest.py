"""A log on a fresh database of each kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.database import schema
from adapters.database.engine import connect
from adapters.database.event_log import EventLog
from adapters.database.migrations import install
from tests.adapters.database.samples import AT


@pytest.fixture
def log(database_url: str) -> Iterator[EventLog]:
    """An empty log."""
    engine = connect(database_url)
    install(engine, AT, tables=(schema.metadata,))
    log = EventLog(engine)
    yield log
    log.close()
    engine.dispose()
