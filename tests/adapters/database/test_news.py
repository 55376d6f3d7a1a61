"""Word of what was recorded spares the wait for the next poll."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa

from adapters.database.engine import connect, reading, writing
from adapters.database.event_log import EventLog
from adapters.database.migrations import install
from adapters.database.news import News, PostgresNews
from tests.adapters.database.conftest import ALONE
from tests.adapters.database.samples import AT, append, noted

LONG = 20.0
"""Seconds that no wait of these tests lasts, unless the word is lost."""


def test_a_ring_ends_a_wait() -> None:
    news = News()
    threading.Timer(0.05, news.ring).start()
    assert news.wait(LONG) == 1


def test_a_wait_without_a_ring_ends_by_itself() -> None:
    assert News().wait(0.01) == 0


def test_what_rang_between_two_waits_is_not_slept_through() -> None:
    news = News()
    heard = news.wait(0)
    news.ring()
    began = time.monotonic()
    assert news.wait(LONG, heard) == heard + 1
    assert time.monotonic() - began < LONG / 2


def test_a_ring_wakes_everybody() -> None:
    news, heard = News(), []
    waiting = [threading.Thread(target=lambda: heard.append(news.wait(LONG, 0))) for _ in range(3)]
    for thread in waiting:
        thread.start()
    news.ring()
    for thread in waiting:
        thread.join()
    assert heard == [1, 1, 1]


@pytest.fixture
def elsewhere(postgresql_url: str, postgresql_log: EventLog) -> Iterator[EventLog]:
    """The log of another process, as far as PostgreSQL can tell."""
    engine = connect(postgresql_url)
    log = EventLog(engine)
    yield log
    log.close()
    engine.dispose()


def test_an_append_elsewhere_ends_a_wait_here(postgresql_log: EventLog, elsewhere: EventLog) -> None:
    heard = postgresql_log.wait_for_news(LONG, 0)
    append(elsewhere, noted("a"))
    began = time.monotonic()
    assert postgresql_log.wait_for_news(LONG, heard) > heard
    assert time.monotonic() - began < LONG / 2


def test_another_operators_append_wakes_nobody(postgresql_url: str, postgresql_log: EventLog) -> None:
    heard = postgresql_log.wait_for_news(LONG, 0)
    engine = connect(postgresql_url, schema="another")
    install(engine, AT, tables=ALONE)
    other = EventLog(engine)
    append(other, noted("a"))
    assert postgresql_log.wait_for_news(0.3, heard) == heard
    other.close()
    engine.dispose()


def end_all_connections(engine: sa.Engine) -> None:
    with reading(engine) as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_broken_line_is_made_again(
    postgresql_log: EventLog, elsewhere: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresNews, "RECONNECT", 0.05)
    heard = postgresql_log.wait_for_news(LONG, 0)
    append(postgresql_log, noted("a"))
    heard = postgresql_log.wait_for_news(LONG, heard)
    end_all_connections(elsewhere.engine)
    # Having lost what may have been said meanwhile, it rings when it listens again.
    heard = postgresql_log.wait_for_news(LONG, heard)
    postgresql_log.news.ring()  # on the broken line
    postgresql_log.engine.dispose()
    append(postgresql_log, noted("b"))
    assert elsewhere.wait_for_news(LONG, 0) >= 1


def test_an_append_succeeds_though_nothing_can_be_told(
    postgresql_log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: PostgresNews) -> None:
        raise psycopg.OperationalError("no line")

    monkeypatch.setattr(PostgresNews, "_tell", broken)
    assert append(postgresql_log, noted("a")) == [1]


def test_a_closed_log_still_records(postgresql_log: EventLog) -> None:
    postgresql_log.wait_for_news(0)
    postgresql_log.close()
    assert append(postgresql_log, noted("a")) == [1]
    assert postgresql_log.wait_for_news(0.01) >= 1
    with writing(postgresql_log.engine):
        pass
