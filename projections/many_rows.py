"""Writes many rows with one statement, and asks about many at once, the fastest way that each database has.

PostgreSQL takes all rows as one JSON text, which both ends handle in C; SQLite runs one prepared statement row
after row. The rows of one call all have the same columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

Row = Mapping[str, Any]
Way = Literal["insert", "insert missing", "insert or replace", "update"]
Convert = Callable[[Any], Any]


def insert(connection: sa.Connection, table: sa.Table, rows: Iterable[Row]) -> None:
    """Insert rows; one that is there already breaks the transaction."""
    _write(connection, table, "insert", list(rows))


def insert_missing(connection: sa.Connection, table: sa.Table, rows: Iterable[Row]) -> None:
    """Insert those rows whose primary key is not there yet; the others stay as they are."""
    _write(connection, table, "insert missing", list(rows))


def insert_or_replace(connection: sa.Connection, table: sa.Table, rows: Iterable[Row]) -> None:
    """Insert rows, each in the place of one with its primary key; no two may have the same."""
    _write(connection, table, "insert or replace", list(rows))


def update(connection: sa.Connection, table: sa.Table, rows: Iterable[Row]) -> None:
    """Change the rows with these primary keys; those that are not there stay away."""
    _write(connection, table, "update", list(rows))


def _write(connection: sa.Connection, table: sa.Table, way: Way, rows: Sequence[Row]) -> None:
    if not rows:
        return
    plan = _plan(table, tuple(rows[0]), way, connection.dialect.name)
    columns = [plan.column(name, rows) for name in plan.names]
    if isinstance(plan.statement, str):
        connection.exec_driver_sql(plan.statement, list(zip(*columns, strict=True)))
    else:
        connection.execute(plan.statement, {"rows": json.dumps(list(zip(*columns, strict=True)))})


@dataclass(frozen=True, slots=True)
class _Plan:
    """A statement, the order of its columns, and what turns a value into one that the driver takes."""

    statement: str | sa.Executable
    names: tuple[str, ...]
    converters: Mapping[str, Convert]

    def column(self, name: str, rows: Sequence[Row]) -> list[Any]:
        values = [row[name] for row in rows]
        convert = self.converters.get(name)
        return values if convert is None else list(_converted(values, convert))


def _converted(values: Iterable[Any], convert: Convert) -> Iterator[Any]:
    """Convert each value once for the rows in which it stands one after the other, such as an instant."""
    last: Any = _NOTHING
    made: Any = None
    for value in values:
        if value is not last:
            last, made = value, convert(value)
        yield made


_NOTHING = object()


@cache
def _plan(table: sa.Table, names: tuple[str, ...], way: Way, dialect_name: str) -> _Plan:
    keys = {column.name for column in table.primary_key}
    # An update on SQLite fills its places in the order in which they stand in the statement.
    ordered = tuple(sorted(names, key=keys.__contains__))
    is_text = dialect_name == "postgresql"
    found = {name: _converter(table.c[name], _dialect(dialect_name), is_text) for name in names}
    converters = {name: convert for name, convert in found.items() if convert is not None}
    make = _from_text if is_text else _for_each_row
    return _Plan(make(table, ordered, way), ordered, converters)


@cache
def _dialect(name: str) -> sa.Dialect:
    return sa.make_url("postgresql+psycopg://" if name == "postgresql" else f"{name}://").get_dialect()()


def _converter(column: sa.Column[Any], dialect: sa.Dialect, is_text: bool) -> Convert | None:
    if isinstance(column.type, sa.LargeBinary):
        return _hexadecimal if is_text else None
    bound = column.type.dialect_impl(dialect).bind_processor(dialect)
    if not is_text or not isinstance(_stored(column), sa.DateTime | sa.Date):
        return bound
    return lambda value: _iso(value if bound is None else bound(value))


def _hexadecimal(value: bytes | None) -> str | None:
    return None if value is None else f"\\x{value.hex()}"


def _iso(value: Any) -> str | None:
    return None if value is None else str(value.isoformat())


def _for_each_row(table: sa.Table, names: tuple[str, ...], way: Way) -> str:
    keys = [column.name for column in table.primary_key]
    others = [name for name in names if name not in keys]
    if way == "update":
        changes = ", ".join(f'"{name}" = ?' for name in others)
        places = " AND ".join(f'"{name}" = ?' for name in names if name in keys)
        return f'UPDATE "{table.name}" SET {changes} WHERE {places}'  # noqa: S608 - names are our own
    quoted = ", ".join(f'"{name}"' for name in names)
    marks = ", ".join("?" for _ in names)
    text = f'INSERT INTO "{table.name}" ({quoted}) VALUES ({marks})'  # noqa: S608 - names are our own
    if way == "insert missing":
        return f"{text} ON CONFLICT DO NOTHING"
    if way == "insert or replace":
        changes = ", ".join(f'"{name}" = excluded."{name}"' for name in others)
        return f"{text} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}"
    return text


def _from_text(table: sa.Table, names: tuple[str, ...], way: Way) -> sa.Executable:
    rows = _elements("rows", {name: _stored(table.c[name]) for name in names})
    keys = [column.name for column in table.primary_key]
    others = [name for name in names if name not in keys]
    if way == "update":
        same = sa.and_(*(table.c[name] == rows.c[name] for name in keys))
        return sa.update(table).where(same).values({name: rows.c[name] for name in others})
    made = postgresql.insert(table).from_select(names, sa.select(*rows.c))
    if way == "insert missing":
        return made.on_conflict_do_nothing()
    if way == "insert or replace":
        new = {name: made.excluded[name] for name in others}
        return made.on_conflict_do_update(index_elements=keys, set_=new)
    return made


def _elements(name: str, types: Mapping[str, sa.types.TypeEngine[Any]]) -> sa.Subquery:
    """Return the table that a JSON text holds, a list of lists, in the parameter of this name."""
    text = sa.cast(sa.bindparam(name, type_=sa.Text), postgresql.JSON)
    value: sa.ColumnClause[Any] = sa.column("value", postgresql.JSON)
    each = sa.func.json_array_elements(text).table_valued(value).render_derived(name="each")
    cells = (each.c.value.op("->>")(sa.literal_column(str(index))) for index in range(len(types)))
    typed = [sa.cast(cell, kind).label(of) for cell, (of, kind) in zip(cells, types.items(), strict=True)]
    return sa.select(*typed).subquery(name)


def _stored(column: sa.Column[Any]) -> sa.types.TypeEngine[Any]:
    """Return the type of a column's values once they are converted, without its collation."""
    plain: sa.types.TypeEngine[Any] = column.type.dialect_impl(_dialect("postgresql"))
    if isinstance(plain, sa.types.TypeDecorator):
        plain = plain.load_dialect_impl(_dialect("postgresql"))
    return sa.Text() if isinstance(plain, sa.String) else plain


@cache
def asked(dialect_name: str, *names: str) -> sa.FromClause:
    """Return a table of texts that is made from a parameter; `asking` gives the parameter."""
    if dialect_name == "postgresql":
        return _elements("asked", dict.fromkeys(names, sa.Text()))
    each = sa.func.json_each(sa.bindparam("asked", type_=sa.Text)).table_valued("value").alias("each")
    texts = [sa.func.json_extract(each.c.value, f"$[{index}]").label(name) for index, name in enumerate(names)]
    return sa.select(*texts).subquery("asked")


def among(dialect_name: str, column: sa.Column[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a column has one of many texts; `texts` gives the parameter."""
    sought = sa.select(asked(dialect_name, "text").c.text)
    if dialect_name == "postgresql":
        # As a list, each of which is looked up: else all that the table holds may be read.
        return column == sa.any_(sa.func.array(sought.scalar_subquery(), type_=postgresql.ARRAY(sa.Text)))
    return column.in_(sought)


def texts(values: Iterable[str]) -> dict[str, str]:
    """Return the parameter with the texts that `among` looks for."""
    return asking([(value,) for value in values])


def asking(rows: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the parameter that fills the table of `asked` with rows."""
    return {"asked": json.dumps(rows)}
