"""Every execution with what became of it: what `semel runs` and `semel why` list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import Any

import sqlalchemy as sa

from domain.attempts import ExecutionHeld
from domain.events import DomainEvent
from domain.executions import (
    HARMLESS,
    ActionDone,
    AttemptStarted,
    ExecutionEnded,
    ExecutionRearmed,
    ExecutionStarted,
    key_of,
)
from domain.facts import Fact
from domain.staff_acts import (
    ExecutionDismissed,
    ExecutionMarkedDone,
    ExecutionRetried,
    ExecutionRunAgain,
    StaffAct,
)
from projections.columns import BigInt, Instant, Key, metadata
from projections.many_rows import insert, update
from projections.projection import Batch

executions = sa.Table(
    "executions",
    metadata,
    sa.Column("key", Key, primary_key=True),
    sa.Column("position", BigInt, nullable=False),
    sa.Column("rule", Key, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("trigger", sa.Text, nullable=False),
    sa.Column("entity", Key, nullable=False),
    sa.Column("event_date", sa.Date, nullable=False),
    sa.Column("occasion", sa.Text, nullable=False),
    sa.Column("origin", sa.Text, nullable=False),
    sa.Column("member", Key, nullable=False),
    sa.Column("due_at", Instant),
    sa.Column("late", sa.Boolean, nullable=False),
    sa.Column("started_at", Instant, nullable=False),
    sa.Column("status", Key, nullable=False),
    sa.Column("at", Instant, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("again_at", Instant),
    sa.Index("ix_executions_position", "position"),
    sa.Index("ix_executions_entity", "entity", "event_date"),
    sa.Index("ix_executions_rule", "rule", "entity", "event_date"),
    sa.Index("ix_executions_status", "status"),
)

Columns = dict[str, Any]


class ExecutionsProjection:
    """Keeps one row for each execution."""

    tables: tuple[sa.Table, ...] = (executions,)

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Insert what started in this batch, with all that followed, and update what had started before."""
        fresh: dict[str, Columns] = {}
        changed: dict[str, Columns] = {}
        for entry in batch.recorded:
            event = entry.event
            if isinstance(event, Fact):
                continue
            if isinstance(event, ExecutionStarted):
                fresh[key_of(event.stream)] = _row(event, entry.position)
            elif columns := _changes(event):
                key = key_of(event.stream)
                (fresh if key in fresh else changed).setdefault(key, {}).update(columns)
        insert(connection, executions, fresh.values())
        _update(connection, changed)


def _row(event: ExecutionStarted, position: int) -> Columns:
    return {
        "key": key_of(event.stream),
        "position": position,
        "rule": event.rule,
        "trigger": event.trigger,
        "entity": event.entity,
        "occasion": event.occasion,
        "origin": event.origin,
        **_begun(event),
    }


def _begun(event: ExecutionStarted | ExecutionRearmed) -> Columns:
    return {
        "version": event.rule_version,
        "event_date": event.event_date,
        "member": event.member,
        "due_at": event.due,
        "late": event.late,
        "started_at": event.at,
        "status": "running",
        "at": event.at,
        "reason": "",
        "attempt": 1,
        "again_at": None,
    }


def _changes(event: DomainEvent) -> Columns | None:
    """Return the columns that an event of an execution changes, or None for any other event."""
    match event:
        case ExecutionRearmed():
            return _begun(event)
        case AttemptStarted():
            return {"status": "running", "at": event.at, "attempt": event.attempt, "again_at": None}
        case ActionDone():
            return {
                "status": event.status,
                "at": event.at,
                "reason": event.reason,
                "attempt": event.attempt,
                "again_at": event.again_at,
            }
        case ExecutionHeld():
            return {"status": "waiting", "at": event.at, "reason": event.reason, "again_at": event.again_at}
        case ExecutionEnded():
            return {"status": event.status, "at": event.at, "reason": event.reason, "again_at": None}
        case StaffAct():
            return _acted_on(event)
        case _:
            return None


def _acted_on(act: StaffAct) -> Columns | None:
    match act:
        case ExecutionRetried():
            return {"status": "waiting", "at": act.at, "reason": f"retried by {act.by}", "again_at": act.at}
        case ExecutionRunAgain():
            return {"status": "waiting", "at": act.at, "reason": f"run again by {act.by}", "again_at": act.at}
        case ExecutionMarkedDone():
            return {"status": "done", "at": act.at, "reason": f"done by hand by {act.by}", "again_at": None}
        case ExecutionDismissed():
            return {"status": act.status, "at": act.at, "reason": act.told, "again_at": None}
        case _:
            return None


def _update(connection: sa.Connection, changed: Mapping[str, Columns]) -> None:
    alike: defaultdict[tuple[str, ...], list[Columns]] = defaultdict(list)
    for key, columns in changed.items():
        alike[tuple(columns)].append({**columns, "key": key})
    for rows in alike.values():
        update(connection, executions, rows)


def runs(
    connection: sa.Connection,
    *,
    rule: str | None = None,
    entity: str | None = None,
    status: Iterable[str] = (),
) -> list[Mapping[str, Any]]:
    """Return executions in the order in which they were claimed, those that fit all that is asked for."""
    query = sa.select(executions).order_by(executions.c.position)
    if rule is not None:
        query = query.where(executions.c.rule == rule)
    if entity is not None:
        query = query.where(executions.c.entity == entity)
    if wanted := list(status):
        query = query.where(executions.c.status.in_(wanted))
    return [dict(row._mapping) for row in connection.execute(query)]


def runs_by_key(connection: sa.Connection, keys: Collection[str]) -> list[Mapping[str, Any]]:
    """Return the executions with these keys."""
    query, names = sa.select(executions), sorted(keys)
    parts = (names[start : start + 500] for start in range(0, len(names), 500))
    return [dict(row._mapping) for part in parts for row in connection.execute(query.where(executions.c.key.in_(part)))]


def keys_beginning(connection: sa.Connection, beginning: str, limit: int = 3) -> list[str]:
    """Return the keys of executions that begin so, no more than a few."""
    query = sa.select(executions.c.key).where(executions.c.key.startswith(beginning, autoescape=True))
    return list(connection.scalars(query.order_by(executions.c.key).limit(limit)))


def counted(connection: sa.Connection, rule: str | None = None, reason: str | None = None) -> dict[str, int]:
    """Return how many executions there are of each status, those that fit all that is asked for."""
    query = sa.select(executions.c.status, sa.func.count()).group_by(executions.c.status)
    if rule is not None:
        query = query.where(executions.c.rule == rule)
    if reason is not None:
        query = query.where(executions.c.reason == reason)
    return {status: count for status, count in connection.execute(query)}  # noqa: C416 - no pair to mypy


def executed(
    connection: sa.Connection, rule: str, entity: str, event_date: date | None, versions: Iterable[int]
) -> str | None:
    """Return the key under which wordings of a rule were executed for an entity, on a date or (None) on any.

    What ended without any effect does not count (semantics 1).
    """
    query = (
        sa.select(executions.c.key)
        .where(executions.c.rule == rule, executions.c.entity == entity)
        .where(executions.c.version.in_(versions))
        .where(executions.c.status.not_in(HARMLESS))
        .order_by(executions.c.position)
        .limit(1)
    )
    if event_date is not None:
        query = query.where(executions.c.event_date == event_date)
    key: str | None = connection.scalar(query)
    return key
