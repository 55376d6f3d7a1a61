"""What is left of the story once all is over: what ran, what was done outside, and what still lies about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from adapters.application import Application
from adapters.database import lanes, log_queries, schema, watermark
from adapters.database.claims import QUEUE
from adapters.database.engine import reading
from adapters.database.evaluating import FOLLOWER as EVALUATOR
from adapters.database.event_log import EventLog
from adapters.database.projecting import FOLLOWER as PROJECTIONS
from adapters.database.projecting import Projector
from adapters.database.readers import projections
from domain.facts import Fact
from projections.dossier_lists import open_dossiers
from projections.executions import runs
from projections.moments import second_looks
from tests.crashes.story import LEASE, Progress, Teller, ledgers, teller

Run = tuple[str, str, str]
"""Rule, entity, and occasion of a run."""


@dataclass(frozen=True, slots=True)
class End:
    """How the story ended. Two tellings of it are alike, whatever happened in between."""

    statuses: Mapping[Run, str]
    facts: Mapping[tuple[str, str, str], int]
    effects: Mapping[str, Counter[str]]
    asked: Mapping[str, Counter[str]]
    open_dossiers: tuple[str, ...]
    left: tuple[str, ...]
    looked_until: datetime

    def unlike(self, other: End) -> list[Run]:
        """Return the runs that ended otherwise."""
        keys = self.statuses.keys() | other.statuses.keys()
        return sorted(key for key in keys if self.statuses.get(key) != other.statuses.get(key))


def settled(url: str, folder: Path) -> End:
    """Let whoever works next take over what was left behind, and return the end."""
    _, at = Progress(folder).read()
    with teller(url, folder, at) as last:
        for _ in range(3):
            last.pass_time(seconds=(LEASE + timedelta(seconds=1)).total_seconds())
        last.pass_time(tick=True)
        return _end(last, folder)


def _end(telling: Teller, folder: Path) -> End:
    app, outside = telling.app, ledgers(folder)
    with reading(app.engine) as connection:
        found = runs(connection)
        dossiers = open_dossiers(connection)
        looked_until = watermark.stored(connection)
    return End(
        statuses={(run["rule"], run["entity"], str(run["event_date"])): run["status"] for run in found},
        facts=Counter((event.source, event.stream, event.topic) for event in _facts(app.log)),
        effects={name: service.lines("did") for name, service in outside.items()},
        asked={name: service.lines("asked") for name, service in outside.items()},
        open_dossiers=tuple(f"{each.operation} {each.ending}" for each in dossiers),
        left=(*_left_over(app), *_differing_when_rebuilt(app)),
        looked_until=looked_until,
    )


def _facts(log: EventLog) -> list[Fact]:
    with reading(log.engine) as connection:
        events = map(log.mapper.read, log_queries.events_after(connection, 0, 100_000))
        return [event for event in events if isinstance(event, Fact)]


def _left_over(app: Application) -> list[str]:
    """Return what should not be there any more."""
    with reading(app.engine) as connection:
        head = log_queries.head_position(connection)
        behind = [name for name in (PROJECTIONS, EVALUATOR) if log_queries.tracked_position(connection, name) != head]
        queued = connection.scalars(sa.select(schema.queue.c.item).where(schema.queue.c.queue == QUEUE)).all()
        held = connection.scalars(sa.select(lanes.lanes.c.service).where(lanes.lanes.c.opens_at.is_not(None))).all()
    return [f"{name} is behind" for name in behind] + [f"{name} is not done with" for name in (*queued, *held)]


def _differing_when_rebuilt(app: Application) -> list[str]:
    """Return the tables of projections that are not what they are when filled from the first event.

    What ticks have to look at a second time is a list of things to do, which a rebuild makes longer.
    """
    every = projections("UTC")
    before = _contents(app, every)
    projector = Projector(app.log, every)
    projector.empty()
    projector.catch_up()
    after = _contents(app, every)
    return [f"{name} differs when rebuilt" for name in before if before[name] != after[name]]


def _contents(app: Application, every: list[Any]) -> dict[str, list[str]]:
    with reading(app.engine) as connection:
        tables = [table for projection in every for table in projection.tables if table is not second_looks]
        return {table.name: sorted(map(repr, connection.execute(sa.select(table)))) for table in tables}
