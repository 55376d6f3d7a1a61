"""The recorder contract that the `eventsourcing` library ships for others, on both databases."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from adapters.database import schema
from adapters.database.engine import connect, writing
from adapters.database.event_log import EventLog
from adapters.database.migrations import install
from tests.adapters.database.samples import AT, noted

pytest.importorskip("Crypto", reason="the library's suite imports its cipher, which needs pycryptodome")

from eventsourcing.application import Repository
from eventsourcing.persistence import EventStore
from eventsourcing.tests import persistence as suites


def finish(engine: sa.Engine) -> None:
    """Dispose of an engine when nobody uses it any more; the suite leaves threads that still read."""
    while "Current Checked out connections: 0" not in engine.pool.status():
        time.sleep(0.01)
    engine.dispose()


class OnDatabase:
    """Gives a suite its recorders."""

    url: str
    made: list[EventLog]

    def create_recorder(self) -> EventLog:
        """Return an empty log."""
        engine = connect(self.url)
        with writing(engine) as connection:
            schema.metadata.drop_all(connection)
        install(engine, AT, tables=(schema.metadata,))
        self.made.append(EventLog(engine))
        return self.made[-1]

    def lend(self, url: str) -> Iterator[None]:
        """Hold a database for the time of one test."""
        self.url, self.made = url, []
        yield
        for log in self.made:
            log.close()
            finish(log.engine)


class OnSQLite(OnDatabase):
    """Runs a suite on SQLite files."""

    @pytest.fixture(autouse=True)
    def _database(self, sqlite_url: str) -> Iterator[None]:
        yield from self.lend(sqlite_url)


class OnPostgreSQL(OnDatabase):
    """Runs a suite on PostgreSQL."""

    @pytest.fixture(autouse=True)
    def _database(self, postgresql_url: str) -> Iterator[None]:
        yield from self.lend(postgresql_url)


class ApplicationOnSQLite(OnSQLite, suites.ApplicationRecorderTestCase[Any]):
    """Events, in streams and in the log, and subscriptions."""

    def test_insert_subscribe(self) -> None:
        self.optional_test_insert_subscribe()


class ApplicationOnPostgreSQL(OnPostgreSQL, suites.ApplicationRecorderTestCase[Any]):
    """The same on PostgreSQL."""

    def test_insert_subscribe(self) -> None:
        self.optional_test_insert_subscribe()


class TrackingOnSQLite(OnSQLite, suites.TrackingRecorderTestCase):
    """Positions of followers."""


class TrackingOnPostgreSQL(OnPostgreSQL, suites.TrackingRecorderTestCase):
    """The same on PostgreSQL."""


class ProcessOnSQLite(OnSQLite, suites.ProcessRecorderTestCase):
    """Events and positions together."""


class ProcessOnPostgreSQL(OnPostgreSQL, suites.ProcessRecorderTestCase):
    """The same on PostgreSQL."""


class OrderOnSQLite(OnSQLite, suites.NonInterleavingNotificationIDsBaseCase):
    """Events of one append stand together in the log."""


class OrderOnPostgreSQL(OnPostgreSQL, suites.NonInterleavingNotificationIDsBaseCase):
    """The same on PostgreSQL."""


def test_the_library_works_on_the_log(sqlite_url: str) -> None:
    """Its store and its repository take the log and the mapper as their own."""
    engine = connect(sqlite_url)
    install(engine, AT, tables=(schema.metadata,))
    log = EventLog(engine)
    store: Any = EventStore(log.mapper, log)
    recordings = store.put([noted("a", 1, "x"), noted("a", 2, "y"), noted("b")])
    assert [recording.notification.id for recording in recordings] == [1, 2, 3]
    repository: Any = Repository(store)
    texts = repository.get("a", projector_func=lambda state, happened: [event.text for event in happened])
    assert texts == ["x", "y"]
    log.close()
    engine.dispose()
