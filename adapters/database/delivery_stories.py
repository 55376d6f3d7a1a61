"""The story of one delivery, told from the log alone: who was to be told what, each attempt, what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_mapper import EventMapper
from adapters.database.personal import StoredPersonalValues
from adapters.database.stories import ERASED
from domain.deliveries import Delivery, delivery_of
from domain.delivery_acts import DeliveryAct
from domain.delivery_events import AttemptStep, DeliverySending, DeliveryStep
from domain.errors import CorruptEvent
from domain.events import DomainEvent
from domain.facts import PersonalRef
from domain.ids import entity


@dataclass(frozen=True, slots=True)
class Step:
    """One change of a delivery; `attempt` is 0 where no attempt made it, `by` is who did it by hand."""

    at: datetime
    what: str
    attempt: int = 0
    error_class: str = ""
    by: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class DeliveryStory:
    """Everything about one delivery. `subject` and `text` are what was sent last, or would have been."""

    delivery: Delivery
    steps: tuple[Step, ...]
    subject: str = ""
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, with instants as they are."""
        delivery, asked = self.delivery, self.delivery.asked
        return {
            "delivery": delivery.id,
            "notification": asked.notification,
            "producer": asked.producer,
            "run": asked.cause.execution if asked.cause else "",
            "type": asked.type,
            "to": asked.to,
            "channel": asked.channel,
            "entity": asked.entity,
            "status": delivery.state,
            "reason": delivery.reason,
            "at": delivery.at,
            "requested_at": asked.requested_at,
            "expires_at": asked.expires_at,
            "attempts": delivery.attempts,
            "provider_message_id": delivery.provider_message_id,
            "subject": self.subject,
            "text": self.text,
            "steps": [_step_json(step) for step in self.steps],
        }


def delivery_stories(connection: sa.Connection, mapper: EventMapper, ids: Iterable[str]) -> list[DeliveryStory]:
    """Return the stories of these deliveries, in the same order; of one that cannot be read there is none."""
    by_stream: dict[str, list[DomainEvent]] = {entity("delivery", each): [] for each in ids}
    unreadable = set()
    for row in log_queries.streams(connection, by_stream):
        try:
            by_stream[row.stream].append(mapper.read(row))
        except CorruptEvent:
            unreadable.add(row.stream)
    personal = StoredPersonalValues(connection)
    return [_story(events, personal) for stream, events in by_stream.items() if events and stream not in unreadable]


def _story(events: Sequence[DomainEvent], personal: StoredPersonalValues) -> DeliveryStory:
    delivery = delivery_of(events)
    assert delivery is not None
    subject, text = _content(events, personal)
    return DeliveryStory(delivery, tuple(_steps(events[1:], personal)), subject, text)


def _content(events: Sequence[DomainEvent], personal: StoredPersonalValues) -> tuple[str, str]:
    sending = [event for event in events if isinstance(event, DeliverySending) and event.message]
    if not sending:
        return "", ""
    content = personal.read(PersonalRef(sending[-1].member, sending[-1].message))
    if not isinstance(content, dict):
        return ERASED, ERASED
    return str(content.get("subject", "")), str(content.get("text", ""))


def _steps(events: Sequence[DomainEvent], personal: StoredPersonalValues) -> Iterator[Step]:
    for event in events:
        what = event.topic.removeprefix("delivery.").replace("-", " ")
        match event:
            case DeliveryAct():
                why = personal.read(PersonalRef(event.member, event.reason)) if event.reason else ""
                yield Step(event.at, what, by=event.by, why=ERASED if why is None else str(why))
            case AttemptStep():
                error_class = getattr(event, "error_class", "")
                yield Step(event.at, what, event.attempt, error_class, why=event.reason)
            case DeliveryStep():
                yield Step(event.at, what, why=event.reason)
            case _:
                yield Step(event.at, what)


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "at": step.at,
        "what": step.what,
        "attempt": step.attempt,
        "class": step.error_class,
        "by": step.by,
        "why": step.why,
    }


def is_delivery_id(key: str) -> bool:
    """Say whether what stands in a dossier is a delivery, and not a run."""
    return key.startswith("delivery-")
