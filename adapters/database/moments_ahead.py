"""What the index of moments holds ahead of an instant for one trigger and offset, in the order of falling due."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from heapq import heappop, heappush, merge
from typing import Any, NamedTuple

import sqlalchemy as sa

from adapters.database.due_moments import DATED, Group
from domain.civil_time import wall_of, zone
from domain.moments import Moment
from projections.moments import instant_at, microseconds, moment_zones, moments

PAGE = 200
"""Rows of one page."""

STRAY = timedelta(days=5)
"""More than calendar steps can bring the order of due times away from that of the moments."""


class Coming(NamedTuple):
    """When a group of rules is due for an entity, as the index has it."""

    at: datetime
    entity: str


def coming(connection: sa.Connection, group: Group, after: datetime) -> Iterator[Coming]:
    """Yield what falls due after an instant, the next first; rows are read as far as they are asked for.

    Of a reminder only what the index holds comes, its next occurrence.
    """
    if group.is_elapsed:
        return _elapsed(connection, group, after)
    zones = list(connection.scalars(sa.select(moment_zones.c.zone).order_by(moment_zones.c.zone)))
    return merge(*(_on_calendar(connection, group, name, after) for name in zones))


def _elapsed(connection: sa.Connection, group: Group, after: datetime) -> Iterator[Coming]:
    """Yield by the instants of the moments: elapsed time keeps their order."""
    seconds = group.offset.amount if group.offset is not None else 0
    shift = timedelta(seconds=-seconds if group.direction == "before" else seconds)
    query = _ordered(group, moments.c.instant)
    for row in _rows(connection, query, microseconds(after - shift)):
        yield Coming(instant_at(row.instant) + shift, row.entity)


def _on_calendar(connection: sa.Connection, group: Group, name: str, after: datetime) -> Iterator[Coming]:
    """Yield by the wall times of one zone; steps of months, and the zone's clock, may change the order a little."""
    query = _ordered(group, moments.c.wall).where(moments.c.zone == name)
    found: list[Coming] = []
    for row in _rows(connection, query, microseconds(_first_wall(group, name, after)) - 1):
        due = Coming(_due(group, row), row.entity)
        while found and found[0].at < due.at - STRAY:
            yield heappop(found)
        if due.at > after:
            heappush(found, due)
    while found:
        yield heappop(found)


def _first_wall(group: Group, name: str, after: datetime) -> datetime:
    """Return a wall time before which no moment of the zone is due after the instant."""
    assert group.offset is not None
    step: Callable[[date], date] = group.offset.day_after if group.direction == "before" else group.offset.day_before
    return datetime.combine(step(wall_of(after, zone(name)).date()), time()) - STRAY


def _due(group: Group, row: Any) -> datetime:
    """Return when the rules of a group are due by a row."""
    instant, day = instant_at(row.instant), instant_at(row.wall).date()
    anchor = day if group.trigger in DATED else instant
    moment = Moment(row.entity, group.trigger, anchor, instant, day, row.zone, known_at=instant)
    before = group.direction == "before"
    return moment.due(group.offset if before else None, None if before else group.offset)


def _ordered(group: Group, column: sa.Column[int]) -> sa.Select[Any]:
    place = sa.tuple_(column, moments.c.entity)
    return (
        sa.select(moments.c.entity, moments.c.instant, moments.c.wall, moments.c.zone, column.label("place"))
        .where(moments.c.trigger == group.trigger)
        .where(place > sa.tuple_(sa.bindparam("last"), sa.bindparam("entity")))
        .order_by(column, moments.c.entity)
        .limit(PAGE)
    )


def _rows(connection: sa.Connection, query: sa.Select[Any], after: int) -> Iterator[Any]:
    """Yield rows page by page; those at the place `after` itself are left out."""
    last, entity = after, _LAST_NAME
    while rows := connection.execute(query, {"last": last, "entity": entity}).all():
        yield from rows
        if len(rows) < PAGE:
            return
        last, entity = rows[-1].place, rows[-1].entity


_LAST_NAME = "\U0010ffff"
"""Comes after the name of every entity."""
