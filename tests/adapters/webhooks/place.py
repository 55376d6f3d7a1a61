"""A whole Semel with receivers of its events: an HTTP server on loopback that verifies as a receiver would."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from adapters.application import Application
from adapters.clock import SimulatedClock
from adapters.crew import Crew
from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.webhooks import WebhookDesk
from adapters.ingestion.cloud_events import read_event
from adapters.settings import Settings
from adapters.webhooks.opening import webhook_desk
from domain.events import DomainEvent
from projections.deliveries import listed
from tests.adapters.channels.http_service import HttpService, Received
from tests.domain.reminder_story import at

START = at("2026-08-08 00:00")


@dataclass
class Place:
    """An application, its crew, and a service that receives."""

    app: Application
    clock: SimulatedClock
    service: HttpService
    names: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        """Start another process, which knows nothing of the one before."""
        self.crew: Crew = self.app.crew()

    @property
    def desk(self) -> WebhookDesk:
        """Return where webhooks are added."""
        return webhook_desk(self.app)

    def add(self, webhook: str, *topics: str, path: str = "/hook") -> str:
        """Add a webhook at a path of the service, and return its secret."""
        return self.desk.add(webhook, f"{self.service.url}{path}", topics, "ana").secret

    def tell(self, fact_type: str, **data: Any) -> None:
        """Record a fact from outside that happens now."""
        now, identifier = self.clock.now().isoformat(), f"e{next(self.names)}"
        event = read_event({"id": identifier, "source": "tests", "type": fact_type, "time": now, "data": data})
        [outcome] = self.app.record(self.app.recorder(), [event])
        assert outcome.status == "accepted", outcome

    def book(self, *bookings: str) -> None:
        """Record that bookings were made."""
        for booking in bookings:
            times = {"starts_at": "2026-08-20T10:00:00Z", "ends_at": "2026-08-20T11:00:00Z"}
            self.tell("booking.created", booking_id=booking, resource_id="r1", member_id="m1", **times)

    def work(self, after: timedelta = timedelta()) -> None:
        """Let time pass, and work until nothing is left to do."""
        self.clock.advance(after)
        self.crew.work_through()

    def received(self, path: str = "/hook") -> list[dict[str, Any]]:
        """Return what arrived at a path, in turn."""
        return [json.loads(each.body) for each in self.service.received if each.path == path]

    def got(self, path: str = "/hook") -> list[tuple[str, str]]:
        """Return type and entity of what arrived at a path, in turn."""
        return [(each["type"], each["data"]["entity"]) for each in self.received(path)]

    def rows(self, webhook: str = "books") -> list[Mapping[str, Any]]:
        """Return the deliveries to a webhook."""
        with reading(self.app.engine) as connection:
            return listed(connection, channel=f"webhook/{webhook}")

    def statuses(self, webhook: str = "books") -> dict[str, int]:
        """Count what became of the deliveries to a webhook."""
        return dict(Counter(row["status"] for row in self.rows(webhook)))

    def told(self) -> dict[str, int]:
        """Count what became of the deliveries to the member."""
        with reading(self.app.engine) as connection:
            return dict(Counter(row["status"] for row in listed(connection, to="member/m1")))

    def events(self, beginning: str = "") -> list[DomainEvent]:
        """Return the events of topics that begin so."""
        with reading(self.app.engine) as connection:
            rows = log_queries.events_after(connection, 0, 100_000)
        return [self.app.log.mapper.read(row) for row in rows if row.topic.startswith(beginning)]

    def notices(self) -> list[str]:
        """Return the types of what staff were told."""
        with reading(self.app.engine) as connection:
            return [row["type"] for row in listed(connection, to="staff", channel="in_app")]


@contextmanager
def place_on(url: str, service: HttpService, **webhooks: Any) -> Iterator[Place]:
    """Hold a place over a fresh database."""
    clock = SimulatedClock(START)
    given = {"allow_private": True, "timeout_seconds": 5, **webhooks}
    settings = Settings.model_validate({"database_url": url, "default_zone": "Europe/Madrid", "webhooks": given})
    app = Application(settings, clock=clock, jitter=lambda: 1.0)
    app.install()
    place = Place(app, clock, service)
    place.tell("space.opened", space_id="mitte", name="Mitte", time_zone="Europe/Madrid", currency="EUR")
    place.tell("member.registered", member_id="m1", name="Mia", email="mia@example.org")
    try:
        yield place
    finally:
        place.crew.finish()
        app.close()


def verifies(received: Received, secret: str) -> bool:
    """Say whether a request is signed with a secret, as the standard has a receiver find out."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    headers = received.headers
    signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), received.body])
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = [each.partition(",") for each in headers["webhook-signature"].split(" ")]
    return any(version == "v1" and hmac.compare_digest(expected, signature) for version, _, signature in given)
