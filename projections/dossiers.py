"""Dossiers as tables: which runs and deliveries stand in each, and what its own events say about it.

What failed stays in its dossier until it is done, no longer needed, or settled by a person; one that waits
for a retry is listed with what it waits for, whether that has a dossier yet or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import sqlalchemy as sa

from domain.delivery_events import DeliveryPending
from domain.dossiers import (
    DossierAssigned,
    DossierClosed,
    DossierEvent,
    DossierOpened,
    DossierReopened,
    FailureCause,
    cause_of_lane,
)
from domain.events import DomainEvent
from domain.executions import ExecutionStarted, key_of
from domain.ids import id_of
from domain.lanes import LaneHeld, LaneRecovered
from projections.columns import Instant, Key, metadata
from projections.deliveries import deliveries
from projections.delivery_standings import is_failing_delivery, moved_delivery
from projections.executions import executions
from projections.projection import Batch
from projections.standings import SETTLED, STANDINGS, Place, is_failing, moved, place_of

failures = sa.Table(
    "failures",
    metadata,
    sa.Column("key", Key, primary_key=True),
    sa.Column("dossier", Key, nullable=False),
    sa.Column("standing", sa.Text, nullable=False),
    sa.Column("operation", sa.Text, nullable=False),
    sa.Column("ending", sa.Text, nullable=False),
    sa.Column("cause_rule", Key, nullable=False),
    sa.Column("rule", Key, nullable=False),
    sa.Column("entity", Key, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("at", Instant, nullable=False),
    sa.Index("ix_failures_dossier", "dossier", "standing"),
)
"""Runs that failed or wait, and those of open dossiers that were settled; `at` is when they came to stand so."""

dossiers = sa.Table(
    "dossiers",
    metadata,
    sa.Column("id", Key, primary_key=True),
    sa.Column("operation", sa.Text, nullable=False),
    sa.Column("ending", sa.Text, nullable=False),
    sa.Column("rule", Key, nullable=False),
    sa.Column("is_open", sa.Boolean, nullable=False),
    sa.Column("held", sa.Boolean, nullable=False),
    sa.Column("opened_at", Instant),
    sa.Column("closed_at", Instant),
    sa.Column("assigned_to", sa.Text, nullable=False),
    *(sa.Column(name, sa.Integer, nullable=False) for name in STANDINGS),
)
"""One row for each cause, with how many of its runs stand how; it need not have been opened yet."""

Columns = dict[str, Any]


class DossiersProjection:
    """Keeps which runs stand in which dossier, and what became of the dossiers themselves."""

    tables: tuple[sa.Table, ...] = (failures, dossiers)

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Take a batch over, event by event, and count anew what it touched."""
        events = [entry.event for entry in batch.recorded if _is_about_failures(entry.event)]
        if events:
            page = _Page(connection, events)
            for event in events:
                page.take(event)
            page.write()


def _is_about_failures(event: DomainEvent) -> bool:
    if isinstance(event, ExecutionStarted | DeliveryPending):
        return False
    return event.stream.startswith(_ABOUT)


class _Page:
    """The rows that some events are about, while these are taken over."""

    def __init__(self, connection: sa.Connection, events: Collection[DomainEvent]) -> None:
        self._connection = connection
        self._rows = {row["key"]: row for row in _selected(connection, _FAILURES, _keys(events))}
        failing = _keys(event for event in events if is_failing(event) or is_failing_delivery(event))
        self._runs = {row["key"]: row for query in (_RUNS, _SENT) for row in _selected(connection, query, failing)}
        self._open = set(connection.scalars(_OPEN))
        self._held = {row.operation: FailureCause(*row) for row in connection.execute(_HELD)}
        self._changed: set[str] = set()
        self._touched: dict[str, FailureCause] = {}

    def take(self, event: DomainEvent) -> None:
        """Take one event over."""
        match event:
            case DossierEvent():
                self._take_dossier(event)
            case LaneHeld():
                self._hold(cause_of_lane(event.service, event.ending))
            case LaneRecovered():
                self._held.pop(event.service, None)
                self._connection.execute(_RELEASE, {"of_service": event.service})
            case _:
                self._take_failure(_key(event), event)

    def _hold(self, cause: FailureCause) -> None:
        self._touched[cause.dossier] = self._held[cause.operation] = cause
        self._change(cause.dossier, {"held": True})

    def _take_failure(self, key: str, event: DomainEvent) -> None:
        """Take over what happened to a run, or to a delivery."""
        row = self._rows.get(key)
        before = None if row is None else place_of(row)
        run = self._runs.get(key) or row or {}
        if event.stream.startswith(_DELIVERY):
            place = moved_delivery(before, event, run.get("channel", ""), self._held)
        else:
            place = moved(before, event, run.get("rule", ""), self._held)
        if place is None:
            return
        self._changed.add(key)
        for each in (before, place):
            if each is not None:
                self._touched[each.cause.dossier] = each.cause
        if before is not None and self._is_forgotten(before, place):
            del self._rows[key]
        else:
            told = _told(before, place, event, row)
            self._rows[key] = {"key": key, "rule": run["rule"], "entity": run["entity"], **told}

    def _is_forgotten(self, before: Place, place: Place) -> bool:
        """Say whether a run had to wait a little, without anybody having been told."""
        is_open = before.cause.dossier in self._open
        return before.standing == "waiting" and place.standing in SETTLED and not is_open

    def _take_dossier(self, event: DossierEvent) -> None:
        changes = _changes(event)
        if isinstance(event, DossierOpened):
            self._touched[event.dossier] = FailureCause(event.operation, event.ending, event.rule)
            self._begin_anew(event.dossier)
        if changes:
            self._change(event.dossier, changes)
        if "is_open" in changes:
            (self._open.add if changes["is_open"] else self._open.discard)(event.dossier)

    def _begin_anew(self, dossier: str) -> None:
        """Forget the runs that were settled in an earlier life of the dossier."""
        self._connection.execute(_FORGET, {"of_dossier": dossier})
        old = [k for k, row in self._rows.items() if row["dossier"] == dossier and row["standing"] in SETTLED]
        for key in old:
            del self._rows[key]

    def _change(self, dossier: str, changes: Columns) -> None:
        changed = self._connection.execute(sa.update(dossiers).where(dossiers.c.id == dossier).values(changes))
        if changed.rowcount == 0:
            self._connection.execute(sa.insert(dossiers), {**_blank(dossier, self._touched[dossier]), **changes})

    def write(self) -> None:
        """Write the rows that changed, and count those of every dossier that was touched."""
        if self._changed:
            self._connection.execute(_DELETE, [{"its_key": key} for key in self._changed])
        rows = [self._rows[key] for key in sorted(self._changed) if key in self._rows]
        if rows:
            self._connection.execute(sa.insert(failures), rows)
        counts: dict[str, Columns] = {dossier: {**_NONE} for dossier in self._touched}
        for row in _selected(self._connection, _COUNTS, counts):
            counts[row["dossier"]][row["standing"]] = row["number"]
        for dossier, numbers in counts.items():
            self._change(dossier, numbers)


def _keys(events: Iterable[DomainEvent]) -> set[str]:
    return {_key(event) for event in events if event.stream.startswith((_RUN, _DELIVERY))}


def _key(event: DomainEvent) -> str:
    """Return the key of the run, or the id of the delivery, that an event is about."""
    return id_of(event.stream) if event.stream.startswith(_DELIVERY) else key_of(event.stream)


def _selected(connection: sa.Connection, query: sa.Select[Any], wanted: Collection[str]) -> Iterator[Columns]:
    """Return the rows of a query for these values of its first column, a chunk at a time."""
    column, names = query.selected_columns[0], sorted(wanted)
    for start in range(0, len(names), _CHUNK):
        rows = connection.execute(query.where(column.in_(names[start : start + _CHUNK])))
        yield from (dict(row._mapping) for row in rows)


def _told(before: Place | None, place: Place, event: DomainEvent, row: Columns | None) -> Columns:
    stays = row is not None and before is not None and (before.cause, before.standing) == (place.cause, place.standing)
    return {
        "dossier": place.cause.dossier,
        "standing": place.standing,
        "operation": place.cause.operation,
        "ending": place.cause.ending,
        "cause_rule": place.cause.rule,
        "status": place.status,
        "reason": place.reason,
        "at": row["at"] if row is not None and stays else event.at,
    }


def _changes(event: DossierEvent) -> Columns:
    """Return the columns of a dossier that its own event changes."""
    match event:
        case DossierOpened():
            return {"is_open": True, "opened_at": event.at, "closed_at": None, "assigned_to": ""}
        case DossierReopened():
            return {"is_open": True, "closed_at": None}
        case DossierClosed():
            return {"is_open": False, "closed_at": event.at}
        case DossierAssigned():
            return {"assigned_to": event.to}
        case _:
            return {}


def _blank(dossier: str, cause: FailureCause) -> Columns:
    return {
        "id": dossier,
        "operation": cause.operation,
        "ending": cause.ending,
        "rule": cause.rule,
        "is_open": False,
        "held": False,
        "opened_at": None,
        "closed_at": None,
        "assigned_to": "",
        **_NONE,
    }


_RUN = "execution-"
_DELIVERY = "delivery/"
_ABOUT = (_RUN, _DELIVERY, "dossier/", "lane/")
_CHUNK = 500
_NONE: Columns = dict.fromkeys(STANDINGS, 0)
_FAILURES = sa.select(failures)
_RUNS = sa.select(executions.c.key, executions.c.rule, executions.c.entity)
_SENT = sa.select(
    deliveries.c.delivery.label("key"),
    sa.func.coalesce(executions.c.rule, "").label("rule"),
    deliveries.c.entity,
    deliveries.c.channel,
).select_from(sa.outerjoin(deliveries, executions, executions.c.key == deliveries.c.execution))
_COUNTS = sa.select(failures.c.dossier, failures.c.standing, sa.func.count().label("number")).group_by(
    failures.c.dossier, failures.c.standing
)
_OPEN = sa.select(dossiers.c.id).where(dossiers.c.is_open)
_HELD = sa.select(dossiers.c.operation, dossiers.c.ending, dossiers.c.rule).where(dossiers.c.held)
_RELEASE = sa.update(dossiers).where(dossiers.c.operation == sa.bindparam("of_service")).values(held=False)
_DELETE = sa.delete(failures).where(failures.c.key == sa.bindparam("its_key"))
_FORGET = sa.delete(failures).where(failures.c.dossier == sa.bindparam("of_dossier"), failures.c.standing.in_(SETTLED))
