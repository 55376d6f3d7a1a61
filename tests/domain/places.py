"""A space, its room, and what is told about them and what happens there, folded to entities."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, date, datetime
from itertools import count
from typing import Any

from domain.civil_time import instant_of, wall_of, zone
from domain.facts import Entity, Fact, applied
from domain.moments import Moment, moments_of
from domain.nouns import NOUN_OF_TYPE

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
DEFAULT_ZONE = "UTC"


class Place:
    """The entities of a space in a zone; what is told carries its own hour of recording."""

    def __init__(self, zone_name: str | None = "Europe/Berlin") -> None:
        self._entities: dict[str, Entity] = defaultdict()
        self._numbers = count(1)
        self.zone = zone_name
        if zone_name is not None:
            self.tell("space.opened", {"space_id": "s", "name": "S", "time_zone": zone_name, "currency": "EUR"})
        self.tell("resource.added", {"resource_id": "r", "space_id": "s", "kind": "desk", "name": "R"})

    def find(self, stream: str) -> Entity:
        """Return an entity as it is now."""
        return self._entities.get(stream, Entity(stream))

    def tell(self, event_type: str, data: dict[str, Any], at: datetime = LONG_AGO) -> Entity:
        """Record a fact at an instant; wall times of instants are those of the space's zone at present."""
        noun = NOUN_OF_TYPE[event_type]
        before = self.find(noun.entity(data))
        data = noun.types[event_type].completed(data, at.isoformat())
        fact = Fact(
            stream=before.stream,
            version=before.version + 1,
            at=at,
            type=event_type,
            source="test",
            id=f"{next(self._numbers):06d}",
            time=at,
            event_date=at.date(),
            data=data,
            walls=self._walls(data),
        )
        self._entities[before.stream] = applied(before, fact)
        return self._entities[before.stream]

    def _walls(self, data: dict[str, Any]) -> dict[str, str]:
        if self.zone is None:
            return {}
        spans = {name: data[name] for name in ("starts_at", "ends_at") if len(str(data.get(name) or "")) > 10}
        return {
            name: wall_of(datetime.fromisoformat(each), zone(self.zone)).isoformat() for name, each in spans.items()
        }

    def local(self, text: str) -> datetime:
        """Return the instant of a wall time in the space's zone."""
        return instant_of(datetime.fromisoformat(text), zone(self.zone or DEFAULT_ZONE))

    def book(self, starts_at: str, ends_at: str, at: datetime = LONG_AGO, **more: Any) -> Entity:
        """Record a booking by its wall times, or by dates for whole days."""
        span = {name: self._told(text) for name, text in (("starts_at", starts_at), ("ends_at", ends_at))}
        booking = {"booking_id": "b", "resource_id": "r", "member_id": "m"}
        return self.tell("booking.created", {**booking, **span, **more}, at)

    def _told(self, text: str) -> str:
        return text if len(text) == 10 else self.local(text).isoformat()

    def bill(self, due_on: date, total: str = "100 EUR", at: datetime = LONG_AGO) -> Entity:
        """Record an invoice."""
        invoice = {"invoice_id": "i", "space_id": "s", "member_id": "m"}
        return self.tell("invoice.issued", {**invoice, "total": total, "due_on": due_on.isoformat()}, at)

    def moments(self, stream: str = "booking/b") -> dict[str, Moment]:
        """Return the moments of an entity by their trigger."""
        found = moments_of(self.find(stream), self.find, DEFAULT_ZONE)
        assert len({moment.trigger for moment in found}) == len(found)
        return {moment.trigger: moment for moment in found}
