"""A database is set up once, whoever does it, and brought up to date step by step."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from adapters.database import log_queries, meta, migrations, projecting, schema
from adapters.database.engine import connect, reading, writing
from adapters.database.event_log import EventLog
from adapters.database.failures import Unreachable
from adapters.database.migrations import install, newest_version, require_current, schema_version
from adapters.database.queue import Waiting, enqueue
from adapters.database.upgrades import UPGRADES, Upgrade
from domain.errors import Unavailable
from projections import columns
from projections.deliveries import deliveries
from tests.adapters.database.conftest import ALONE
from tests.adapters.database.samples import AT, append, noted


@pytest.fixture
def blank(blank_database_url: str) -> Iterator[sa.Engine]:
    """An engine of a database without any table."""
    engine = connect(blank_database_url)
    yield engine
    engine.dispose()


def remembered(engine: sa.Engine, name: str) -> str | None:
    with reading(engine) as connection:
        return meta.remembered(connection, name)


def test_a_database_is_set_up_once(blank: sa.Engine) -> None:
    assert schema_version(blank) == 0
    assert install(blank, AT, tables=ALONE) == newest_version()
    salt = remembered(blank, meta.SALT)
    assert install(blank, AT.replace(year=2030), tables=ALONE) == newest_version()
    assert schema_version(blank) == newest_version()
    assert remembered(blank, meta.CREATED_AT) == "2026-05-12T10:00:00+00:00"
    assert remembered(blank, meta.SALT) == salt is not None
    log = EventLog(blank)
    assert append(log, noted("a")) == [1]
    log.close()


def test_projections_are_set_up_too(blank: sa.Engine) -> None:
    assert set(migrations.TABLES) == {schema.metadata, columns.metadata}
    views = sa.MetaData()
    sa.Table("sample_view", views, sa.Column("id", columns.Key, primary_key=True))
    install(blank, AT, tables=(schema.metadata, views))
    with reading(blank) as connection:
        assert sa.inspect(connection).has_table("sample_view")


def test_the_salt_is_random(databases: object, blank: sa.Engine, tmp_path: Path) -> None:
    other = connect(f"sqlite:///{tmp_path}/other.db")
    for engine in (blank, other):
        install(engine, AT, tables=ALONE)
    with reading(blank) as one, reading(other) as two:
        assert len(meta.salt(one)) == 32
        assert meta.salt(one) != meta.salt(two)
    other.dispose()


def at_once(number: int, action: Callable[[], None]) -> list[Exception]:
    """Run an action in several threads that start together; return what they raised."""
    errors: list[Exception] = []
    together = threading.Barrier(number)

    def run() -> None:
        together.wait(20)
        try:
            action()
        except Exception as error:  # noqa: BLE001 - the test shows it
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_many_may_set_it_up_at_once(blank_database_url: str) -> None:
    def set_up() -> None:
        engine = connect(blank_database_url)
        install(engine, AT, tables=ALONE)
        engine.dispose()

    assert at_once(5, set_up) == []
    engine = connect(blank_database_url)
    with reading(engine) as connection:
        assert connection.execute(sa.select(schema.head)).all() == [(1, 0)]
    engine.dispose()


@pytest.mark.postgresql
def test_many_may_set_up_a_schema_at_once(postgresql_url: str) -> None:
    def set_up() -> None:
        engine = connect(postgresql_url, schema="operator")
        install(engine, AT, tables=ALONE)
        engine.dispose()

    assert at_once(5, set_up) == []


def add_table(name: str) -> Upgrade:
    def upgrade(connection: sa.Connection) -> None:
        connection.exec_driver_sql(f"CREATE TABLE {name} (id integer PRIMARY KEY)")

    return upgrade


def tables(engine: sa.Engine) -> set[str]:
    with reading(engine) as connection:
        return set(sa.inspect(connection).get_table_names())


def test_an_older_database_takes_each_step_that_it_lacks(blank: sa.Engine) -> None:
    install(blank, AT, tables=ALONE, upgrades=[])
    first, second = add_table("first"), add_table("second")
    assert install(blank, AT, tables=ALONE, upgrades=[first]) == 2
    assert tables(blank) == {"first", *schema.metadata.tables}
    assert install(blank, AT, tables=ALONE, upgrades=[first, second]) == 3
    assert tables(blank) == {"first", "second", *schema.metadata.tables}


def test_a_new_database_needs_no_steps(blank: sa.Engine) -> None:
    assert install(blank, AT, tables=ALONE, upgrades=[add_table("first")]) == 2
    assert "first" not in tables(blank)


def test_many_may_upgrade_at_once(blank_database_url: str, blank: sa.Engine) -> None:
    install(blank, AT, tables=ALONE, upgrades=[])

    def upgrade() -> None:
        engine = connect(blank_database_url)
        install(engine, AT, tables=ALONE, upgrades=[add_table("first"), add_table("second")])
        engine.dispose()

    assert at_once(4, upgrade) == []
    assert schema_version(blank) == 3


def test_a_step_that_fails_leaves_the_database_as_it_was(blank: sa.Engine) -> None:
    install(blank, AT, tables=ALONE, upgrades=[])

    def fail(connection: sa.Connection) -> None:
        add_table("half")(connection)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        install(blank, AT, tables=ALONE, upgrades=[add_table("first"), fail])
    assert tables(blank) == set(schema.metadata.tables)
    assert schema_version(blank) == 1


def test_a_database_without_lanes_of_channels_gets_them(blank: sa.Engine) -> None:
    install(blank, AT, upgrades=[])
    with writing(blank) as connection:
        for item, rank in (("a", 0), ("b", 1)):
            enqueue(connection, [Waiting("delivery:email", item, rank=rank), Waiting("actions", item)])
        connection.execute(sa.insert(schema.tracking), {"follower": projecting.FOLLOWER, "position": 41})
        deliveries.drop(connection)
    assert install(blank, AT) == newest_version() == len(UPGRADES) + 1
    with reading(blank) as connection:
        found = connection.execute(sa.select(schema.queue.c.queue, schema.queue.c.item))
        expected = {("delivery:email:transactional", "a"), ("delivery:email:bulk", "b")}
        assert {tuple(row) for row in found} == expected | {("actions", "a"), ("actions", "b")}
        assert log_queries.tracked_position(connection, projecting.FOLLOWER) == 0
        assert projecting.rebuilt_up_to(connection) == 41
        assert sa.inspect(connection).has_table(deliveries.name)


def test_a_newer_database_is_refused(blank: sa.Engine) -> None:
    install(blank, AT, tables=ALONE)
    with writing(blank) as connection:
        meta.remember(connection, meta.SCHEMA_VERSION, "7")
    for use in (lambda: install(blank, AT, tables=ALONE), lambda: require_current(blank)):
        with pytest.raises(Unavailable, match=r"has version 7, but this Semel works on \d; use a newer Semel"):
            use()


def test_a_database_that_is_not_current_says_what_to_do(blank: sa.Engine) -> None:
    with pytest.raises(Unreachable, match="`semel init`"):
        require_current(blank)
    install(blank, AT, tables=ALONE, upgrades=[])
    require_current(blank, upgrades=[])
    with pytest.raises(Unreachable, match=r"version 1, this Semel works on 2; `semel migrate`"):
        require_current(blank, upgrades=[add_table("first")])


def test_small_texts_are_remembered(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        assert meta.remembered(connection, "paused") is None
        meta.remember(connection, "paused", "yes")
        meta.remember(connection, "paused", "no")
        assert meta.remembered(connection, "paused") == "no"
        meta.forget(connection, "paused")
        meta.forget(connection, "paused")
        assert meta.remembered(connection, "paused") is None


def test_a_lost_salt_is_not_made_up(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        meta.forget(connection, meta.SALT)
    with reading(engine) as connection, pytest.raises(Unreachable, match="salt"):
        meta.salt(connection)


def test_a_database_knows_itself(engine: sa.Engine) -> None:
    meta.accept_identity(engine)  # the database of a test may be a copy of one set up before
    assert remembered(engine, meta.IDENTITY) == meta.identity_of(engine)
    assert not meta.is_copy(engine)


@pytest.mark.postgresql
def test_a_copy_knows_that_it_is_one(postgresql_log: EventLog) -> None:
    with writing(postgresql_log.engine) as connection:
        meta.remember(connection, meta.IDENTITY, "cluster 1 database 2")
    assert meta.is_copy(postgresql_log.engine)
    meta.accept_identity(postgresql_log.engine)
    assert not meta.is_copy(postgresql_log.engine)


def test_a_database_in_memory_is_set_up() -> None:
    engine = connect("sqlite://")
    assert install(engine, AT, tables=ALONE) == newest_version()
    assert meta.identity_of(engine) == "memory"
    engine.dispose()
