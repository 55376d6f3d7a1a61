"""What happened in a scenario, as plain rows: whatever keeps them, they are compared alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Run:
    """An execution and what became of it; `at` is when that was."""

    rule: str
    entity: str
    status: str
    date: date
    at: datetime
    late: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Calls:
    """How often an operation was called, and for how many idempotency keys that had an effect."""

    effects: int = 0
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A message that a provider accepted at an instant; `text` is all of its wording."""

    to: str
    channel: str
    type: str
    at: datetime
    text: str = ""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery and what became of it; `at` is when that was."""

    to: str
    channel: str
    type: str
    status: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Dossier:
    """An open dossier; `rule` is empty where the service is at fault."""

    service: str
    rule: str
    ending: str
    runs: int


@dataclass(frozen=True, slots=True)
class Due:
    """A run ahead."""

    entity: str
    rule: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that expectations can be compared with."""

    runs: tuple[Run, ...] = ()
    calls: Mapping[str, Calls] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    notices: tuple[Message, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    dossiers: tuple[Dossier, ...] = ()
    will_run: tuple[Due, ...] = ()

    def with_ahead(self, will_run: tuple[Due, ...]) -> Observed:
        """Return this together with what lies ahead."""
        return replace(self, will_run=will_run)
