"""The column types hold the same values in the same order on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from adapters.database.bulk import insert_rows
from adapters.database.engine import connect, reading, writing
from domain.money import Money
from projections.columns import BigInt, Instant, Json, Key, money_columns, money_of, money_values

AT = datetime(2026, 5, 12, 10, 0, 0, 1, tzinfo=UTC)
TABLES = sa.MetaData()
SAMPLES = sa.Table(
    "samples",
    TABLES,
    sa.Column("id", BigInt, primary_key=True, autoincrement=False),
    sa.Column("key", Key),
    sa.Column("at", Instant, index=True),
    sa.Column("data", Json),
    *money_columns("total", nullable=True),
)


@pytest.fixture
def engine(database_url: str) -> Iterator[sa.Engine]:
    engine = connect(database_url)
    with writing(engine) as connection:
        TABLES.create_all(connection)
    yield engine
    engine.dispose()


def put(engine: sa.Engine, column: str, values: list[Any]) -> None:
    with writing(engine) as connection:
        rows = [{"id": number, column: value} for number, value in enumerate(values)]
        connection.execute(sa.insert(SAMPLES), rows)


def got(engine: sa.Engine, column: str, *conditions: sa.ColumnElement[bool]) -> list[Any]:
    with reading(engine) as connection:
        found = SAMPLES.c[column]
        return list(connection.scalars(sa.select(found).where(*conditions).order_by(found, SAMPLES.c.id)))


def test_an_instant_comes_back_in_utc(engine: sa.Engine) -> None:
    put(engine, "at", [AT.astimezone(timezone(timedelta(hours=5, minutes=30))), None])
    [first] = got(engine, "at", SAMPLES.c.id == 0)
    assert first == AT
    assert first.tzinfo is UTC
    assert got(engine, "at", SAMPLES.c.id == 1) == [None]


def test_an_instant_without_an_offset_is_refused(engine: sa.Engine) -> None:
    with pytest.raises(sa.exc.StatementError, match="has no offset"):
        put(engine, "at", [AT.replace(tzinfo=None)])


def test_instants_are_ordered_and_compared_as_instants(engine: sa.Engine) -> None:
    ordered = [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(999, 12, 31, tzinfo=UTC),
        AT.replace(microsecond=0),
        AT,
        AT.replace(microsecond=10),
        AT + timedelta(seconds=1),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ]
    put(engine, "at", [ordered[i] for i in (3, 0, 6, 5, 1, 4, 2)])
    assert got(engine, "at") == ordered
    elsewhere = AT.astimezone(timezone(timedelta(hours=-7)))
    assert got(engine, "at", SAMPLES.c.at > elsewhere, SAMPLES.c.at <= AT + timedelta(seconds=1)) == ordered[4:6]
    with reading(engine) as connection:
        assert connection.scalar(sa.select(sa.func.max(SAMPLES.c.at))) == ordered[-1]


def test_sqlite_looks_up_a_range_of_instants_in_the_index(sqlite_url: str) -> None:
    engine = connect(sqlite_url)
    with writing(engine) as connection:
        TABLES.create_all(connection)
        query = sa.select(SAMPLES.c.id).where(SAMPLES.c.at > AT, SAMPLES.c.at <= AT)
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query.compile(engine)}", ("a", "b")).all()
    assert "USING" in plan[0][-1]
    assert "INDEX ix_samples_at (at>? AND at<?)" in plan[0][-1]
    engine.dispose()


def test_json_comes_back_as_it_was(engine: sa.Engine) -> None:
    values = [{"a": [1, None, True, 1.5, "ü\x00\U0001f511", {"b": {}}]}, [], "text", 0, False, None]
    put(engine, "data", values)
    with reading(engine) as connection:
        query = sa.select(SAMPLES.c.data).order_by(SAMPLES.c.id)
        assert list(connection.scalars(query)) == values


def test_what_is_no_json_is_refused(engine: sa.Engine) -> None:
    for value in (float("nan"), AT, {1, 2}):
        with pytest.raises(sa.exc.StatementError):
            put(engine, "data", [value])


def test_keys_are_ordered_by_their_bytes(engine: sa.Engine) -> None:
    put(engine, "key", ["b", "a-b", "B", "ä", "ab", "a/b", "_"])
    assert got(engine, "key") == ["B", "_", "a-b", "a/b", "ab", "b", "ä"]


@pytest.mark.parametrize("money", [Money.parse("18.50 EUR"), Money.parse("-92233720368547758.07 EUR"), None])
def test_an_amount_is_kept_exactly(engine: sa.Engine, money: Money | None) -> None:
    with writing(engine) as connection:
        connection.execute(sa.insert(SAMPLES), {"id": 1, **money_values("total", money)})
        minor, currency = connection.execute(sa.select(SAMPLES.c.total_minor, SAMPLES.c.total_currency)).one()
    assert money_of(minor, currency) == money


def test_rows_written_in_bulk_are_those_written_one_by_one(engine: sa.Engine) -> None:
    columns = [SAMPLES.c[name] for name in ("id", "key", "at", "data", "total_minor")]
    rows = [(1, "a\tb\\N\n", AT, {"x": ["\x00"]}, -5), (2, None, None, None, None)]
    with writing(engine) as connection:
        insert_rows(connection, columns, iter(rows))
        insert_rows(connection, columns, [])
        assert connection.execute(sa.select(*columns).order_by(SAMPLES.c.id)).all() == rows


INSTANTS = st.datetimes(
    timezones=st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
    min_value=datetime(2, 1, 1),
    max_value=datetime(9998, 1, 1),
)


@given(st.lists(INSTANTS, min_size=2, max_size=2))
def test_the_text_that_sqlite_keeps_has_the_order_of_time(instants: list[datetime]) -> None:
    dialect = sa.make_url("sqlite://").get_dialect()()
    column = Instant()
    one, two = (column.process_bind_param(instant, dialect) for instant in instants)
    assert (one < two, one == two) == (instants[0] < instants[1], instants[0] == instants[1])
    assert column.process_result_value(one, dialect) == instants[0]
