"""One operator's Semel on a database, driven from a test that owns its time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

import sqlalchemy as sa

from adapters.application import Application, embedded_services
from adapters.clock import SimulatedClock
from adapters.database import log_queries, traces
from adapters.database.engine import reading
from adapters.database.facts import EntityCache
from adapters.database.personal import StoredPersonalValues
from adapters.ingestion.cloud_events import read_event
from adapters.ingestion.incoming import Outcome
from adapters.ingestion.recording import FactRecorder
from adapters.settings import read_settings
from adapters.workers import Worked
from automations.authoring import read_rule
from automations.ports import Service
from domain.events import DomainEvent
from domain.facts import Entity, PersonalRef
from projections.executions import runs

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
ZONE = "Europe/Berlin"

Event = dict[str, Any]
_numbers = count(1)

MITTE: Event = {"space_id": "mitte", "name": "Mitte", "time_zone": ZONE, "currency": "EUR", "locale": "de"}
ROOM: Event = {"resource_id": "r1", "space_id": "mitte", "kind": "meeting_room", "name": "Spree", "door": "d1"}
MIA: Event = {"member_id": "m1", "name": "Mia", "email": "mia@example.org", "locale": "de"}
BOOKING: Event = {
    "booking_id": "b1",
    "resource_id": "r1",
    "member_id": "m1",
    "starts_at": "2026-05-12T10:00:00+02:00",
    "ends_at": "2026-05-12T12:00:00+02:00",
    "attendees": 4,
}
INVOICE: Event = {
    "invoice_id": "i1",
    "space_id": "mitte",
    "member_id": "m1",
    "total": "100.00 EUR",
    "due_on": "2026-05-20",
}


def event(event_type: str, data: Any, *, at: datetime = NOON, **attributes: Any) -> Event:
    """Return a CloudEvent; its id is a fresh one, and its source `outside`, unless they are given."""
    named = {"id": f"e{next(_numbers)}", "source": "outside", "type": event_type, "time": at.isoformat()}
    return {**named, "data": data, **attributes}


def scene() -> list[Event]:
    """Return the events that make a space, a room in it and a member known."""
    return [event("space.opened", MITTE), event("resource.added", ROOM), event("member.registered", MIA)]


def rule(identifier: str, when: str, *where: Any, **more: Any) -> Event:
    """Return a rule as its author writes it; without `do` it makes a task."""
    steps = [{"create_task": {"title": f"{identifier} for {{{{ member.name | default: 'nobody' }}}}"}}]
    return {"id": identifier, "when": when, "where": list(where), "do": steps, **more}


@dataclass(slots=True)
class Operator:
    """An application with a clock that moves when the test says so."""

    app: Application
    clock: SimulatedClock
    recorder: FactRecorder = field(init=False)

    def __post_init__(self) -> None:
        self.recorder = self.app.recorder()

    def record(self, *events: Event) -> list[Outcome]:
        """Record events in one batch."""
        return self.app.record(self.recorder, [read_event(each) for each in events])

    def save(self, *rules: Event) -> None:
        """Save rules; they are enabled unless they say otherwise."""
        read = [read_rule(each) for each in rules]
        self.app.save_rules([(each.rule, each.enabled) for each in read], by="test")

    def work(self) -> Worked:
        """Let a new worker work until nothing is left."""
        return self.app.worker().work_until_idle()

    def state(self, stream: str) -> Entity:
        """Return the state of an entity at the head."""
        with reading(self.app.engine) as connection:
            return EntityCache(self.app.log.mapper).at_head(connection).get(stream)

    def field(self, stream: str, name: str) -> Any:
        """Return a field of an entity as a reader sees it, personal values looked up."""
        value = self.state(stream).get(name)
        if not isinstance(value, PersonalRef):
            return value
        with reading(self.app.engine) as connection:
            return StoredPersonalValues(connection).read(value)

    def events(self, stream: str | None = None) -> list[DomainEvent]:
        """Return what was recorded, in log order, all of it or one stream's."""
        with reading(self.app.engine) as connection:
            rows = log_queries.events_after(connection, 0, 100_000)
        return [self.app.log.mapper.read(row) for row in rows if stream in (None, row.stream)]

    def topics(self, stream: str | None = None) -> list[str]:
        """Return the topics of what was recorded."""
        return [each.topic for each in self.events(stream)]

    def runs(self, **asked: Any) -> list[Mapping[str, Any]]:
        """Return the executions."""
        with reading(self.app.engine) as connection:
            return runs(connection, **asked)

    def statuses(self, **asked: Any) -> list[tuple[str, str]]:
        """Return rule and status of each execution."""
        return [(run["rule"], run["status"]) for run in self.runs(**asked)]

    def traces(self, entity: str) -> dict[str, Any]:
        """Return the last verdict of each rule about an entity."""
        with reading(self.app.engine) as connection:
            rows = traces.of_entity(connection, entity)
        return {name: verdict for row in rows for name, verdict in row["verdicts"].items()}

    def rows(self, table: sa.Table) -> list[dict[str, Any]]:
        """Return every row of a table."""
        with reading(self.app.engine) as connection:
            return [dict(row._mapping) for row in connection.execute(sa.select(table))]

    def follow(self) -> None:
        """Take everything recorded over into the projections, without evaluating it."""
        self.app.worker()._projector.catch_up()


@contextmanager
def operator_on(
    url: str,
    *,
    at: datetime = NOON,
    services: Callable[[Application], Mapping[str, Service]] = embedded_services,
    **settings: Any,
) -> Iterator[Operator]:
    """Lend an operator whose database is set up if need be."""
    clock = SimulatedClock(at)
    read = read_settings(database_url=url, default_zone=ZONE, **settings)
    app = Application(read, clock=clock, jitter=lambda: 1.0, services=services)
    app.install()
    try:
        yield Operator(app, clock)
    finally:
        app.close()
