"""Whatever kills a writer, and wherever: the next one finds all of its last transaction, or nothing."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from adapters.database import bulk, log_queries, schema
from adapters.database.engine import connect, reading
from adapters.database.event_log import EventLog
from adapters.database.migrations import install
from tests.adapters.database.samples import AT
from tests.crashes.log_writer import write_next

ROOT = Path(__file__).parents[2]


def everything(engine: sa.Engine) -> list[list[sa.Row[tuple[object, ...]]]]:
    tables = (schema.events, schema.head, schema.tracking, schema.queue)
    with reading(engine) as connection:
        return [sorted(connection.execute(sa.select(table)).all()) for table in tables]


@pytest.fixture
def log(database_url: str) -> Iterator[EventLog]:
    engine = connect(database_url)
    install(engine, AT, tables=(schema.metadata,))
    log = EventLog(engine)
    yield log
    log.close()
    engine.dispose()


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours may catch it."""


@contextmanager
def killed_at(engine: sa.Engine, point: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kill whoever reaches the n-th beginning, statement or commit, or the end of the n-th bulk insert."""
    passed = 0

    def step(*_: object) -> None:
        nonlocal passed
        passed += 1
        if passed == point:
            raise Killed

    copy = bulk._copy

    def copying(connection: sa.Connection, statement: str, rows: Iterable[bulk.Row]) -> None:
        step()
        copy(connection, statement, rows)
        step()

    names = ("begin", "before_cursor_execute", "commit")
    with monkeypatch.context() as patched:
        patched.setattr(bulk, "_copy", copying)
        for name in names:
            sa.event.listen(engine, name, step)
        try:
            yield
        finally:
            for name in names:
                sa.event.remove(engine, name, step)


def survived(log: EventLog, point: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Do the next unit of work and be killed at the n-th point; say whether there are fewer points."""
    try:
        with killed_at(log.engine, point, monkeypatch):
            write_next(log)
    except Killed:
        return False
    return True


def test_a_transaction_that_dies_at_any_point_leaves_nothing(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    write_next(log)
    before = everything(log.engine)
    point = 1
    while not survived(log, point, monkeypatch):
        assert everything(log.engine) == before
        point += 1
    assert point >= 9
    assert write_next(log) == 3
    with reading(log.engine) as connection:
        assert [row.position for row in log_queries.events_after(connection, 0, 99)] == list(range(1, 10))


def settle(engine: sa.Engine) -> None:
    """Wait until the server has noticed that a client is gone, and has finished what that had begun."""
    busy = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND state <> 'idle'"
    )
    while engine.dialect.name == "postgresql":
        with reading(engine) as connection:
            if connection.exec_driver_sql(busy).scalar() == 0:
                return


def killed_after(url: str, units: int, pause: float) -> None:
    """Run a writer in a process of its own and kill it some time after so many units."""
    command = [sys.executable, "-m", "tests.crashes.log_writer", url]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        for _ in range(units):
            assert writer.stdout.readline()
        time.sleep(pause)  # a kill must fall anywhere, within a commit too
        writer.send_signal(signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_process_leaves_whole_transactions_and_no_gap(log: EventLog, database_url: str) -> None:
    chance, done = random.Random(7), 0
    for _ in range(6):
        killed_after(database_url, chance.randint(1, 30), chance.random() / 100)
        settle(log.engine)
        events, head, tracking, queue = everything(log.engine)
        done = tracking[0].position
        names = [f"unit-{number}" for number in range(1, done + 1)]
        assert [(row.stream, row.version) for row in events] == [
            (name, version) for name in names for version in (1, 2, 3)
        ]
        assert [row.position for row in events] == list(range(1, 3 * done + 1))
        assert head == [(1, 3 * done)]
        assert sorted(row.item for row in queue) == sorted(names)
    assert write_next(log) == done + 1
