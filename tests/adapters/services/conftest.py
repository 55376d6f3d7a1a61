"""The embedded services on a fresh database of each kind."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from adapters.database import schema
from adapters.database.engine import connect
from adapters.database.event_log import EventLog
from adapters.database.migrations import install
from adapters.services.embedded import Foundation
from tests.adapters.services.desk import AT, SALT, ZONE, ServiceDesk


@pytest.fixture
def desk(database_url: str) -> Iterator[ServiceDesk]:
    """Every embedded service over one empty log."""
    engine = connect(database_url)
    install(engine, AT, tables=(schema.metadata,))
    log = EventLog(engine)
    yield ServiceDesk(Foundation(log, SALT, ZONE, time.sleep))
    log.close()
    engine.dispose()
