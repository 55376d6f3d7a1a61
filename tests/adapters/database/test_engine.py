"""Where the database is, and what is said when it is not there."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from adapters.database.engine import connect, place_of, reading, schema_of, writing
from adapters.database.failures import Contended, Unreachable
from domain.errors import InvalidInput, Unavailable

ROOT = Path(__file__).parents[3]


@pytest.fixture
def notes(database_url: str) -> Iterator[sa.Engine]:
    """An engine of a database with one table `notes(id)`."""
    engine = connect(database_url)
    with writing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE notes (id integer PRIMARY KEY)")
    yield engine
    engine.dispose()


def count(engine: sa.Engine) -> int:
    with reading(engine) as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM notes").scalar_one())


def test_a_writing_transaction_commits_at_its_end(notes: sa.Engine) -> None:
    with writing(notes) as connection:
        connection.exec_driver_sql("INSERT INTO notes VALUES (1)")
    assert count(notes) == 1


def test_a_writing_transaction_that_fails_leaves_nothing(notes: sa.Engine) -> None:
    def fail() -> None:
        with writing(notes) as connection:
            connection.exec_driver_sql("INSERT INTO notes VALUES (1)")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert count(notes) == 0


def test_a_reading_transaction_cannot_write(notes: sa.Engine) -> None:
    with pytest.raises(Unavailable), reading(notes) as connection:
        connection.exec_driver_sql("INSERT INTO notes VALUES (1)")
    with writing(notes) as connection:
        connection.exec_driver_sql("INSERT INTO notes VALUES (1)")
    assert count(notes) == 1


def test_who_reads_does_not_wait_for_who_writes(notes: sa.Engine) -> None:
    with writing(notes) as connection:
        connection.exec_driver_sql("INSERT INTO notes VALUES (1)")
        assert count(notes) == 0


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_serves_all_threads_in_turn(url: str) -> None:
    engine = connect(url)
    with writing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE notes (id integer PRIMARY KEY)")

    def add(number: int) -> None:
        with writing(engine) as connection:
            connection.exec_driver_sql("INSERT INTO notes VALUES (?)", (number,))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count(engine) == 8
    engine.dispose()


def test_a_transaction_inside_another_of_a_database_in_memory_is_named() -> None:
    engine = connect("sqlite://", pool_timeout=0.01)
    with writing(engine), pytest.raises(Contended, match="connections are in use"), reading(engine):
        pass
    engine.dispose()


def test_sqlite_survives_a_power_cut_and_serves_several_processes(sqlite_url: str) -> None:
    engine = connect(sqlite_url)
    with reading(engine) as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "fullfsync")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "fullfsync": 1}
    engine.dispose()


def test_a_writer_has_a_sqlite_file_for_itself_from_its_beginning(sqlite_url: str) -> None:
    engine, other = connect(sqlite_url), connect(sqlite_url)
    sa.event.listen(other, "connect", lambda raw, _: raw.execute("PRAGMA busy_timeout=1"))
    with writing(engine), pytest.raises(Contended, match="locked"), writing(other):
        pass
    with writing(other):
        pass
    engine.dispose()
    other.dispose()


ADDING = """
import sys
from adapters.database.engine import connect, writing
engine = connect(sys.argv[1])
for number in range(50):
    with writing(engine) as connection:
        connection.exec_driver_sql("INSERT INTO notes SELECT coalesce(max(id), 0) + 1 FROM notes")
engine.dispose()
"""


def test_processes_that_open_a_new_file_at_once_do_not_fail(sqlite_url: str) -> None:
    script = "import sys; from adapters.database.engine import *\nwith reading(connect(sys.argv[1])): pass"
    assert run_together(script, sqlite_url, 3) == [0] * 3


def test_processes_add_to_one_file_in_turn(sqlite_url: str) -> None:
    engine = connect(sqlite_url)
    with writing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE notes (id integer PRIMARY KEY)")
    assert run_together(ADDING, sqlite_url, 3) == [0] * 3
    assert count(engine) == 150
    engine.dispose()


def run_together(script: str, url: str, number: int) -> list[int]:
    command = [sys.executable, "-c", script, url]
    processes = [subprocess.Popen(command, cwd=ROOT) for _ in range(number)]
    return [process.wait() for process in processes]


def test_a_session_of_postgresql_is_in_utc_and_reads_what_is_committed(postgresql_url: str) -> None:
    engine = connect(postgresql_url)
    names = ("TimeZone", "transaction_isolation", "idle_in_transaction_session_timeout", "application_name")
    with writing(engine) as connection:
        found = [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in names]
    assert found == ["UTC", "read committed", "1min", "semel"]
    engine.dispose()


def test_an_operator_has_a_schema_of_its_own(postgresql_url: str) -> None:
    for schema in ("one", "two"):
        engine = connect(postgresql_url, schema=schema)
        assert schema_of(engine) == schema
        with writing(engine) as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
            connection.exec_driver_sql("CREATE TABLE notes (id integer PRIMARY KEY)")
        assert count(engine) == 0
        engine.dispose()


def test_options_of_the_url_are_kept(postgresql_url: str) -> None:
    url = sa.make_url(postgresql_url).update_query_dict({"application_name": "mine", "options": "-c work_mem=5MB"})
    engine = connect(url.render_as_string(hide_password=False), schema="one")
    with reading(engine) as connection:
        found = [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in ("application_name", "work_mem")]
        assert connection.exec_driver_sql("SHOW search_path").scalar() == "one"
    assert found == ["mine", "5MB"]
    engine.dispose()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("semel.db", "write sqlite:///semel.db or postgresql"),
        ("", "not a database URL"),
        ("mysql://root@localhost/semel", "mysql is not a database"),
        ("postgresql+asyncpg://localhost/semel", "asyncpg is not"),
        ("sqlite+aiosqlite:///semel.db", "aiosqlite is not"),
        ("sqlite://semel.db", "three slashes before its path: sqlite:///semel.db"),
        ("sqlite:////nowhere/at/all/semel.db", "no folder /nowhere/at/all"),
        ("sqlite:////tmp", "/tmp is a folder"),
        ("postgresql://localhost/semel?nope=1", 'behind its question mark: invalid connection option "nope"'),
        ("postgresql://localhost/semel?connect_timeout=soon", "bad value for connect_timeout: 'soon'"),
    ],
)
def test_a_wrong_url_says_what_to_write(url: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        connect(url)


@pytest.mark.parametrize("schema", ["", "Upper", "a-b", "1st", "x" * 51, 'a"; DROP', "pg_catalog x"])
def test_a_schema_has_a_plain_name(schema: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be a schema"):
        connect("postgresql://host/database", schema=schema)


def test_a_file_has_no_schema(sqlite_url: str) -> None:
    with pytest.raises(InvalidInput, match="give each operator a file"):
        connect(sqlite_url, schema="one")


def test_a_password_is_not_shown() -> None:
    url = "postgresql://me:secret@127.0.0.1:1/semel?sslmode=disable&sslpassword=hidden"
    engine = connect(url)
    said = r"127\.0\.0\.1:1/semel: no connection; check that the server"
    with pytest.raises(Unavailable, match=said) as caught, reading(engine):
        pass
    assert "secret" not in str(caught.value)
    assert "hidden" not in place_of(engine.url)
    with pytest.raises(InvalidInput) as refused:
        connect("postgres//me:secret@host")
    assert "secret" not in str(refused.value)


def test_a_missing_file_is_made_only_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "semel.db"
    with pytest.raises(InvalidInput, match=r"no such file; `semel init`"):
        connect(f"sqlite:///{path}", create=False)
    assert not path.exists()
    engine = connect(f"sqlite:///{path}")
    with reading(engine):
        pass
    engine.dispose()
    connect(f"sqlite:///{path}", create=False).dispose()


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "semel.db"
    path.write_text("Dear diary, " * 500)
    engine = connect(f"sqlite:///{path}")
    with pytest.raises(Unreachable, match=r"semel\.db: the file is not a SQLite database"), reading(engine):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "semel.db"
    sqlite3.connect(path).close()
    path.chmod(0o400)
    with pytest.raises(Unreachable, match="change its permissions"), writing(connect(f"sqlite:///{path}")):
        pass


def test_a_database_that_is_not_set_up_is_named(notes: sa.Engine) -> None:
    said = r"Semel is not set up here .*`semel init`"
    with pytest.raises(Unreachable, match=said), reading(notes) as connection:
        connection.execute(sa.text("SELECT * FROM events"))


def test_a_database_that_does_not_exist_is_named(postgresql_url: str) -> None:
    engine = connect(postgresql_url.replace("semel_test_", "missing_"))
    with pytest.raises(Unreachable, match=r'database "missing_.*does not exist'), reading(engine):
        pass


def test_a_fault_of_ours_is_not_dressed_up(notes: sa.Engine) -> None:
    with pytest.raises(sa.exc.DBAPIError), reading(notes) as connection:
        connection.exec_driver_sql("SELEKT 1")
    with writing(notes) as connection:
        connection.exec_driver_sql("CREATE TABLE strict (id integer PRIMARY KEY, must text NOT NULL)")
    with pytest.raises(sa.exc.IntegrityError), writing(notes) as connection:
        connection.exec_driver_sql("INSERT INTO strict VALUES (1, NULL)")


def test_a_deadlock_can_be_tried_again(postgresql_url: str) -> None:
    engine = connect(postgresql_url)
    with writing(engine) as connection:
        connection.exec_driver_sql("CREATE TABLE notes (id integer PRIMARY KEY)")
        connection.exec_driver_sql("INSERT INTO notes VALUES (1), (2)")
    together, errors = threading.Barrier(2), []

    def lock(first: int, second: int) -> None:
        try:
            with writing(engine) as connection:
                connection.exec_driver_sql("SELECT * FROM notes WHERE id = %s FOR UPDATE", (first,))
                together.wait(10)
                connection.exec_driver_sql("SELECT * FROM notes WHERE id = %s FOR UPDATE", (second,))
        except Contended as error:
            errors.append(error)

    threads = [threading.Thread(target=lock, args=order) for order in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 1
    engine.dispose()


def test_a_lost_connection_is_unavailable(postgresql_url: str) -> None:
    engine = connect(postgresql_url)
    with pytest.raises(Unreachable), writing(engine) as connection:
        connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")
    with reading(engine) as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    engine.dispose()


def test_a_server_that_does_not_answer_is_given_up(postgresql_url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/semel?connect_timeout=2"
        with pytest.raises(Unreachable, match="no connection"), reading(connect(url)):
            pass
