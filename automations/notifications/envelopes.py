"""What a webhook gets of an event: one small JSON object, whose values of people are looked up when it is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from domain.events import DomainEvent
from domain.facts import Fact
from domain.outside import OutsideEvent

_PLACE = frozenset({"stream", "version", "at", "cause"})


def references_of(event: DomainEvent) -> tuple[str, ...]:
    """Return under which references the values of people lie that belong to an event."""
    match event:
        case Fact():
            return tuple(event.personal.values())
        case OutsideEvent():
            return (event.payload,)
        case _:
            return ()


def envelope(topic: str, event: DomainEvent, position: int, personal: Mapping[str, object]) -> str:
    """Return the body for one event, as Standard Webhooks want it: `type`, `timestamp`, `data`.

    `position` is the event's place in the log. What of `personal`, by reference, was erased comes as null.
    """
    happened = event.time if isinstance(event, Fact | OutsideEvent) else event.at
    data = {
        "entity": event.stream,
        "version": event.version,
        "position": position,
        "recorded_at": _text(event.at),
        "execution": event.cause.execution if event.cause else None,
        **_told(event, personal),
    }
    # ASCII only, so that the signature is over the same bytes whatever a lone surrogate would become.
    return json.dumps({"type": topic, "timestamp": _text(happened), "data": data}, separators=(",", ":"))


def _told(event: DomainEvent, personal: Mapping[str, object]) -> dict[str, Any]:
    match event:
        case Fact():
            fields = event.data | {name: personal.get(ref) for name, ref in event.personal.items()}
            origin = {"source": event.source, "id": event.id, "event_date": event.event_date.isoformat()}
            return {**origin, "changed": list(event.changed), "fields": fields}
        case OutsideEvent():
            return {"source": event.source, "id": event.id, "fields": personal.get(event.payload)}
        case _:
            return {"fields": event.model_dump(mode="json", exclude=set(_PLACE))}


def _text(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")
