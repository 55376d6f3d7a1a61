"""Many rows in one statement: each way of writing, with every type of column, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest
import sqlalchemy as sa

from adapters.database.engine import connect, reading, writing
from domain.errors import Conflict
from projections.columns import BigInt, Instant, Json, Key
from projections.many_rows import asked, asking, insert, insert_missing, insert_or_replace, update

metadata = sa.MetaData()
things = sa.Table(
    "things",
    metadata,
    sa.Column("kind", Key, primary_key=True),
    sa.Column("key", Key, primary_key=True),
    sa.Column("number", BigInt),
    sa.Column("count", sa.Integer),
    sa.Column("at", Instant),
    sa.Column("day", sa.Date),
    sa.Column("is_good", sa.Boolean),
    sa.Column("told", Json),
    sa.Column("order", sa.Text),
    sa.Column("print", sa.LargeBinary),
)
keys = sa.Table("keys", metadata, sa.Column("key", Key, primary_key=True))

AT = datetime(2026, 5, 12, 10, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture
def engine(blank_database_url: str) -> Iterator[sa.Engine]:
    engine = connect(blank_database_url)
    with writing(engine) as connection:
        metadata.create_all(connection)
    yield engine
    engine.dispose()


def thing(key: str, **values: Any) -> dict[str, Any]:
    return {
        "kind": "a",
        "key": key,
        "number": 2**60,
        "count": -1,
        "at": AT,
        "day": date(2026, 5, 12),
        "is_good": True,
        "told": {"größe": [1, None, "\0"]},
        "order": "a 'quoted' {text}, NULL",
        "print": b"\0\xff",
        **values,
    }


def stored(engine: sa.Engine, table: sa.Table = things) -> list[dict[str, Any]]:
    with reading(engine) as connection:
        return [dict(row._mapping) for row in connection.execute(sa.select(table).order_by(*table.primary_key))]


def test_what_is_written_is_read_again_whatever_its_type(engine: sa.Engine) -> None:
    empty = dict.fromkeys(("number", "count", "at", "day", "is_good", "told", "order", "print"))
    rows = [thing("1"), thing("2", **empty), thing("3", at=AT.replace(year=1999), told=[], is_good=False)]
    with writing(engine) as connection:
        insert(connection, things, rows)
    assert stored(engine) == rows


def test_a_row_that_is_there_breaks_an_insert(engine: sa.Engine) -> None:
    with pytest.raises(Conflict), writing(engine) as connection:
        insert(connection, things, [thing("2"), thing("1"), thing("1")])
    assert stored(engine) == []


def test_missing_rows_are_inserted_and_others_stay(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        insert(connection, things, [thing("1", count=1)])
        insert_missing(connection, things, [thing("1", count=2), thing("2", count=2), thing("2", count=3)])
    assert [row["count"] for row in stored(engine)] == [1, 2]


def test_a_table_of_keys_alone_takes_what_is_missing(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        insert_missing(connection, keys, [{"key": "1"}])
        insert_missing(connection, keys, ({"key": key} for key in "123"))
    assert [row["key"] for row in stored(engine, keys)] == ["1", "2", "3"]


def test_rows_are_replaced_by_their_key(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        insert(connection, things, [thing("1", count=1), thing("1", kind="b", count=1)])
        insert_or_replace(connection, things, [thing("1", count=2, at=None), thing("2", count=2)])
    assert [(row["kind"], row["count"], row["at"]) for row in stored(engine)] == [
        ("a", 2, None),
        ("a", 2, AT),
        ("b", 1, AT),
    ]


def test_an_update_changes_its_columns_and_no_other_rows(engine: sa.Engine) -> None:
    with writing(engine) as connection:
        insert(connection, things, [thing("1"), thing("2"), thing("2", kind="b")])
        update(connection, things, [{"order": key, "key": key, "kind": "a", "at": None} for key in "129"])
    assert [(row["kind"], row["order"], row["at"], row["count"]) for row in stored(engine)] == [
        ("a", "1", None, -1),
        ("a", "2", None, -1),
        ("b", thing("2")["order"], AT, -1),
    ]


def test_nothing_to_write_asks_the_database_nothing(engine: sa.Engine) -> None:
    with reading(engine) as connection:
        for write in (insert, insert_missing, insert_or_replace, update):
            write(connection, things, [])


@pytest.mark.parametrize("rows", [[], [("b", "2"), ("a", "1"), ('it\'s {"x"}', "")]])
def test_a_table_made_from_a_parameter_can_be_joined(engine: sa.Engine, rows: list[tuple[str, str]]) -> None:
    dialect = engine.dialect.name
    table = asked(dialect, "name", "number")
    with reading(engine) as connection:
        found = connection.execute(sa.select(table), asking(rows)).all()
    assert [tuple(row) for row in found] == rows
