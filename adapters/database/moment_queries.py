"""What is asked of the index of moments: what lies in any number of ranges, in the order of falling due."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from projections.moments import moments


class Range(NamedTuple):
    """A part of the index, in microseconds since 1970: later than `first`, up to and including `last`.

    With a zone it is one of wall times, else of instants. Each moment is due when it shows, less `lead`; or all
    are due `at` once; or, where both are None, at any time. `number` is whatever tells ranges apart.
    """

    number: int
    trigger: str
    zone: str
    first: int
    last: int
    lead: int | None = None
    at: int | None = None


class Row(NamedTuple):
    """A moment in a range of that number, and when it is due, in microseconds since 1970."""

    due: int
    entity: str
    number: int


BEFORE_ALL = Row(-(2**62), "", -1)
"""A place that every row comes behind."""

Encoded = dict[str, Any]
"""Ranges as parameters of a statement: to be made once, and asked with many times."""


def encoded(ranges: Sequence[Range], dialect: str) -> Encoded:
    """Return ranges in the form that a database takes."""
    parameters: dict[str, Any] = {}
    for side, column in _SIDES.items():
        asked = [each for each in ranges if bool(each.zone) is (column == "wall")]
        if dialect == "postgresql":
            columns = zip(*asked, strict=True) if asked else ([] for _ in Range._fields)
            parameters |= {
                f"{side}_{name}": _array(values) for name, values in zip(Range._fields, columns, strict=True)
            }
        else:
            parameters[side] = json.dumps(asked)
    return parameters


def found_in(connection: sa.Connection, asked: Encoded, after: int, up_to: int, behind: Row, limit: int) -> list[Row]:
    """Return at most so many moments that are due later than `after` and up to another instant, in due order.

    They lie behind the row of an earlier page. Those that may be due at any time come first.
    """
    window = {"after": after, "up_to": up_to, "limit": limit}
    place = {"due": behind.due, "entity": behind.entity, "number": behind.number}
    rows = connection.execute(_found(connection.dialect.name), asked | window | place)
    return list(map(Row._make, rows))


def first_due(connection: sa.Connection, asked: Encoded, after: int) -> int | None:
    """Return when the first moment is due later than `after`, or None where there is none in these ranges."""
    due: int | None = connection.scalar(_first(connection.dialect.name), asked | {"after": after})
    return due


def _array(values: Iterable[Any]) -> str:
    """Return an array as PostgreSQL writes it; nothing that stands in a range needs more than quotes."""
    return "{" + ",".join("NULL" if value is None else f'"{value}"' for value in values) + "}"


@cache
def _found(dialect: str) -> sa.Select[Any]:
    both = sa.union_all(*(_rows(dialect, side) for side in _SIDES)).subquery("both")
    place = sa.tuple_(both.c.due, both.c.entity, both.c.number)
    behind = sa.tuple_(sa.bindparam("due"), sa.bindparam("entity"), sa.bindparam("number"))
    return (
        sa.select(both.c.due, both.c.entity, both.c.number)
        .where(place > behind)
        .order_by(both.c.due, both.c.entity, both.c.number)
        .limit(sa.bindparam("limit"))
    )


def _rows(dialect: str, side: str) -> sa.Select[Any]:
    asked, shown = _asked(dialect, side), moments.c[_SIDES[side]]
    latest = _UP_TO + asked.c.lead
    last = sa.case((latest < asked.c.last, latest), else_=asked.c.last)
    matches = sa.and_(_lies_in(asked, side), shown <= last, sa.or_(asked.c.at.is_(None), asked.c.at <= _UP_TO))
    if dialect != "postgresql":
        return _due(asked, shown, moments.c.entity).select_from(asked.join(moments, matches))
    # Range by range, in the index: else PostgreSQL, where it knows little of the table, reads the whole of it.
    apart = sa.select(moments.c.entity, shown.label("shown")).where(matches).offset(sa.literal_column("0"))
    found = apart.lateral(f"in_{side}")
    return _due(asked, found.c.shown, found.c.entity).select_from(asked.join(found, sa.true()))


def _due(asked: sa.FromClause, shown: sa.ColumnElement[int], entity: sa.ColumnElement[str]) -> sa.Select[Any]:
    due = sa.func.coalesce(asked.c.at, shown - asked.c.lead, _AFTER + 1).label("due")
    return sa.select(due, entity.label("entity"), asked.c.number)


@cache
def _first(dialect: str) -> sa.Select[Any]:
    both = sa.union_all(*(_firsts(dialect, side) for side in _SIDES)).subquery("both")
    due = sa.func.coalesce(both.c.at, both.c.shown - both.c.lead, _AFTER + 1)
    return sa.select(sa.func.min(sa.case((both.c.shown.is_not(None), due))))


def _firsts(dialect: str, side: str) -> sa.Select[Any]:
    asked, column = _asked(dialect, side), moments.c[_SIDES[side]]
    matches = sa.and_(_lies_in(asked, side), column <= asked.c.last)
    shown = sa.select(sa.func.min(column)).where(matches).scalar_subquery()
    return sa.select(asked.c.at, asked.c.lead, shown.label("shown"))


def _lies_in(asked: sa.FromClause, side: str) -> sa.ColumnElement[bool]:
    """Return the condition on a moment to be in a range, at its beginning: it is due later than `after`."""
    earliest = _AFTER + asked.c.lead
    first = sa.case((earliest > asked.c.first, earliest), else_=asked.c.first)
    matches = [moments.c.trigger == asked.c.trigger, moments.c[_SIDES[side]] > first]
    if side == "walls":
        matches.append(moments.c.zone == asked.c.zone)
    return sa.and_(*matches, sa.or_(asked.c.at.is_(None), asked.c.at > _AFTER))


def _asked(dialect: str, side: str) -> sa.FromClause:
    """Return the ranges as a table made from parameters, the way the database knows."""
    if dialect == "postgresql":
        lists: list[sa.ColumnElement[Any]] = [
            sa.cast(sa.bindparam(f"{side}_{name}", type_=sa.Text), ARRAY(kind))
            for name, kind in zip(Range._fields, _KINDS, strict=True)
        ]
        return sa.func.unnest(*lists).table_valued(*Range._fields).render_derived(name=side)
    each = sa.func.json_each(sa.bindparam(side, type_=sa.Text)).table_valued("value").alias(f"each_of_{side}")
    columns = [
        sa.func.json_extract(each.c.value, f"$[{index}]").label(name) for index, name in enumerate(Range._fields)
    ]
    return sa.select(*columns).subquery(side)


_AFTER, _UP_TO = (sa.bindparam(name, type_=sa.BigInteger) for name in ("after", "up_to"))
_SIDES = {"instants": "instant", "walls": "wall"}
"""The two ways in which the index is sorted, and the column of each."""

_KINDS = (sa.Integer, sa.Text, sa.Text, sa.BigInteger, sa.BigInteger, sa.BigInteger, sa.BigInteger)
