"""Why candidates did not run: one row for each entity and occasion, with every rule's last verdict in it.

Diagnosis, not state: outside the log, kept by day and dropped by day. What is skipped after its claim is
an event instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa

from adapters.database.schema import metadata
from automations.candidates import Trace
from projections.columns import Instant, Key, OwnJson
from projections.many_rows import asked, asking, insert_or_replace

KEPT = timedelta(days=30)
"""How long a row is kept after the day on which it was last seen."""

traces = sa.Table(
    "traces",
    metadata,
    sa.Column("entity", Key, primary_key=True),
    sa.Column("occasion", Key, primary_key=True),
    sa.Column("event_date", sa.Date, nullable=False),
    sa.Column("seen_on", sa.Date, nullable=False, index=True),
    sa.Column("seen_at", Instant, nullable=False),
    sa.Column("verdicts", OwnJson, nullable=False),
)

Place = tuple[str, str]
"""An entity and an occasion."""


def write(connection: sa.Connection, found: Sequence[Trace], at: datetime) -> None:
    """Take traces over: a rule's last verdict about an occasion replaces its earlier one."""
    if not found:
        return
    places: dict[Place, dict[str, Any]] = {}
    dates: dict[Place, date] = {}
    for trace in found:
        candidate = trace.candidate
        place = (candidate.entity, candidate.occasion)
        places.setdefault(place, {})[candidate.rule.id] = _verdict(trace)
        dates[place] = candidate.event_date
    known = _known(connection, list(places))
    rows = [
        {
            "entity": place[0],
            "occasion": place[1],
            "event_date": dates[place],
            "seen_on": at.date(),
            "seen_at": at,
            "verdicts": known.get(place, {}) | verdicts,
        }
        for place, verdicts in places.items()
    ]
    insert_or_replace(connection, traces, rows)


def _verdict(trace: Trace) -> dict[str, Any]:
    failed = trace.verdict.failed
    form: dict[str, Any] = {"version": trace.candidate.rule.version, "trigger": trace.candidate.rule.when}
    if failed is not None:
        form["failed"] = failed.to_json()
    if trace.note:
        form["note"] = trace.note
    return form


def _known(connection: sa.Connection, places: Sequence[Place]) -> dict[Place, dict[str, Any]]:
    dialect = connection.dialect.name
    rows = connection.execute(_known_at(dialect), asking(places)).all()
    return {(entity, occasion): verdicts for entity, occasion, verdicts in rows}


@cache
def _known_at(dialect: str) -> sa.Select[Any]:
    place = asked(dialect, "entity", "occasion")
    same = (traces.c.entity == place.c.entity) & (traces.c.occasion == place.c.occasion)
    return sa.select(traces.c.entity, traces.c.occasion, traces.c.verdicts).join_from(place, traces, same)


def of_entity(connection: sa.Connection, entity: str) -> list[Mapping[str, Any]]:
    """Return the rows of one entity, the latest date last."""
    query = sa.select(traces).where(traces.c.entity == entity).order_by(traces.c.event_date, traces.c.occasion)
    return [dict(row._mapping) for row in connection.execute(query)]


def drop_old(connection: sa.Connection, today: date) -> int:
    """Drop what was last seen longer ago than it is kept; return how many rows that were."""
    return connection.execute(sa.delete(traces).where(traces.c.seen_on < today - KEPT)).rowcount
