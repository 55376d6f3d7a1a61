"""What the tests of services ask and look up: calls, facts from outside, and what was recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.facts import EntityCache
from adapters.database.personal import StoredPersonalValues
from adapters.database.unit_of_work import unit_of_work
from adapters.ingestion.incoming import Incoming
from adapters.ingestion.recording import FactRecorder
from adapters.services.access import Access
from adapters.services.billing import Billing
from adapters.services.embedded import EmbeddedService, Ending, Foundation
from adapters.services.memberships import Memberships
from adapters.services.notifications import Notifications
from adapters.services.tasks import Tasks
from automations.ports import Call
from domain.commands import Command
from domain.endings import Done
from domain.events import Cause, DomainEvent
from domain.facts import Entity, PersonalRef

AT = datetime(2026, 5, 12, 8, tzinfo=UTC)
ZONE = "Europe/Berlin"
SALT = b"salt of the tests"
CAUSE = Cause(execution="k", rules=("rule",))
SERVICES: tuple[type[EmbeddedService], ...] = (Access, Billing, Memberships, Notifications, Tasks)


def call(key: str = "k/0", at: datetime = AT) -> Call:
    return Call(key=key, cause=CAUSE, at=at)


@dataclass
class ServiceDesk:
    """The services of one operator by name."""

    foundation: Foundation
    services: dict[str, EmbeddedService] = field(init=False)

    def __post_init__(self) -> None:
        self.services = {service.name: service(self.foundation) for service in SERVICES}

    def ask(self, command: Command, key: str = "k/0", at: datetime = AT) -> Ending:
        return self.services[command.service].perform(command, call(key, at))

    def done(self, command: Command, key: str = "k/0", at: datetime = AT) -> dict[str, Any]:
        ending = self.ask(command, key, at)
        assert isinstance(ending, Done), ending
        return ending.result

    def tell(self, fact_type: str, at: datetime = AT, **data: Any) -> None:
        """Record a fact from outside."""
        log = self.foundation.log
        recorder = FactRecorder(log.mapper, EntityCache(log.mapper), SALT, ZONE)
        incoming = Incoming("outside", f"{fact_type} {sorted(data.items())}", fact_type, at, data)
        with unit_of_work(log) as work:
            recorder.record(work, [incoming], AT)

    def events(self) -> list[DomainEvent]:
        log = self.foundation.log
        with reading(log.engine) as connection:
            return [log.mapper.read(row) for row in log_queries.events_after(connection, 0, 10_000)]

    def state(self, stream: str) -> Entity:
        with reading(self.foundation.log.engine) as connection:
            return EntityCache(self.foundation.log.mapper).at_head(connection).get(stream)

    def personal(self, reference: PersonalRef) -> object | None:
        with reading(self.foundation.log.engine) as connection:
            return StoredPersonalValues(connection).read(reference)
