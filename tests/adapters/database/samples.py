"""Events for tests of the log, which do not care what they are about."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from adapters.database.event_log import EventLog
from adapters.database.unit_of_work import unit_of_work
from domain.events import DomainEvent, register_topic

AT = datetime(2026, 5, 12, 10, 0, tzinfo=UTC)


class Noted(DomainEvent):
    """Something was noted."""

    TOPIC = "sample.noted"

    text: str = ""


class Priced(DomainEvent):
    """An event whose shape has changed twice."""

    TOPIC = "sample.priced"
    class_version = 3

    amount: str
    currency: str
    note: str

    @staticmethod
    def upcast_v1_v2(state: dict[str, Any]) -> None:
        """Version 2 added the currency; all prices had been euros."""
        state["currency"] = "EUR"

    @staticmethod
    def upcast_v2_v3(state: dict[str, Any]) -> None:
        """Version 3 renamed the remark."""
        state["note"] = state.pop("remark", "")


class Reported(DomainEvent):
    """An event of many topics, each of which its field `type` holds."""

    type: str
    data: dict[str, Any] = {}

    @property
    def topic(self) -> str:
        """Return the type, which is what the event is stored under."""
        return self.type


for _topic in ("sample.opened", "sample.closed"):
    register_topic(_topic, Reported)


class Foreign(DomainEvent):
    """An event of one topic whose field `type` is something else."""

    TOPIC = "sample.foreign"

    type: str


def noted(stream: str, version: int = 1, text: str = "") -> Noted:
    return Noted(stream=stream, version=version, at=AT, text=text)


def append(log: EventLog, *events: DomainEvent) -> list[int]:
    """Record events in a transaction of their own, and return their positions."""
    return append_all(log, events)


def append_all(log: EventLog, events: Iterable[DomainEvent]) -> list[int]:
    with unit_of_work(log) as work:
        work.append(events)
    return work.positions
