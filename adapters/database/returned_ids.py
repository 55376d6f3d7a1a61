"""The ids that calls returned, for as long as an event may come back from outside that names one of them.

Such an event is the work of the execution that made the call, and no news of the world (semantics 7).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from adapters.database.schema import metadata
from automations.triggers import triggers
from domain.endings import Done
from domain.events import DomainEvent
from domain.executions import ActionDone, key_of
from domain.ids import entity
from projections.columns import Instant, Key

WITHIN = timedelta(hours=1)
"""How long after a call an event that names what it returned counts as its work."""

CLOCKS_APART = timedelta(minutes=1)
"""By how much the clock of a service may be behind ours."""

returned_ids = sa.Table(
    "returned_ids",
    metadata,
    sa.Column("entity", Key, primary_key=True),
    sa.Column("execution", Key, nullable=False),
    sa.Column("called_at", Instant, nullable=False),
    sa.Column("until", Instant, nullable=False, index=True),
    sqlite_with_rowid=False,
)


@dataclass(frozen=True, slots=True)
class Returned:
    """An entity that a call of an execution returned, and when events about it can be its work."""

    entity: str
    execution: str
    called_at: datetime
    until: datetime

    def covers(self, time: datetime) -> bool:
        """Say whether something that happened then may be the work of the call."""
        return self.called_at - CLOCKS_APART <= time <= self.until


def write(connection: sa.Connection, event: DomainEvent) -> None:
    """Keep the ids that a call returned, with the event that records its ending."""
    rows = list(_rows(event))
    if rows:
        connection.execute(_upsert(connection.dialect.name), rows)


def _rows(event: DomainEvent) -> Iterator[dict[str, Any]]:
    if not isinstance(event, ActionDone) or not isinstance(event.ending, Done):
        return
    for name, value in event.ending.result.items():
        kind = name.removesuffix("_id")
        if kind != name and kind in _kinds() and isinstance(value, str) and value:
            yield {
                "entity": entity(kind, value),
                "execution": key_of(event.stream),
                "called_at": event.started_at,
                "until": event.at + WITHIN,
            }


def among(connection: sa.Connection, entities: Collection[str]) -> dict[str, Returned]:
    """Return which of these entities a call returned not long ago."""
    names, found = sorted(entities), {}
    for start in range(0, len(names), _CHUNK):
        for row in connection.execute(_AMONG, {"wanted": names[start : start + _CHUNK]}):
            found[row.entity] = Returned(*row)
    return found


def drop_over(connection: sa.Connection, now: datetime) -> None:
    """Drop what no event can name any more."""
    connection.execute(sa.delete(returned_ids).where(returned_ids.c.until < now - WITHIN))


@cache
def _kinds() -> frozenset[str]:
    """Return the kinds of entities whose events can start rules: of no other one a rule could start itself."""
    return frozenset(trigger.KIND for trigger in triggers.values())


@cache
def _upsert(dialect_name: str) -> sa.Executable:
    dialect: Any = postgresql if dialect_name == "postgresql" else sqlite
    insert = dialect.insert(returned_ids)
    new = {name: insert.excluded[name] for name in ("execution", "called_at", "until")}
    statement: sa.Executable = insert.on_conflict_do_update(index_elements=["entity"], set_=new)
    return statement


_CHUNK = 500
_AMONG = sa.select(returned_ids).where(returned_ids.c.entity.in_(sa.bindparam("wanted", expanding=True)))
