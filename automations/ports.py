"""What automations need from outside, as Protocols; adapters implement them, tests fake them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from domain.commands import Command
from domain.endings import Done, Ending, Misconfigured, Refused, TryLater, Unknown
from domain.events import Cause
from domain.facts import Entity, PersonalRef


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> datetime:
        """Return the present instant, aware and in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back, whatever is done to the wall clock."""
        ...


class FactSource(Protocol):
    """What conditions and templates see: every fact about one candidate."""

    def value(self, path: str) -> object | None:
        """Return the value of a fact such as `booking.attendees`, or None where it is missing."""
        ...

    def reference(self, path: str) -> str | None:
        """Return where the value lies if it is personal; reasons keep this instead of the value."""
        ...


class Entities(Protocol):
    """The folded states of entities, no older than the log's head when they were last refreshed."""

    def get(self, stream: str) -> Entity:
        """Return the state of one entity; an unknown one has version 0."""
        ...

    def prepare(self, streams: Iterable[str]) -> list[Entity]:
        """Load many entities at once, so that `get` need not go to the database for each.

        Returns them as far as their events can be read; that counts as looking at none of them.
        """
        ...

    def before(self, stream: str, version: int) -> Entity:
        """Return an entity as it was before one version of its stream was recorded."""
        ...


class PersonalValues(Protocol):
    """The table of personal values."""

    def read(self, reference: PersonalRef) -> object | None:
        """Return the value, or None once it was erased."""
        ...


class Counts(Protocol):
    """What only a projection can count; it must have reached the log's head."""

    def bookings_before(self, member: str, booking: Entity) -> int:
        """Return how many bookings of the member, not cancelled, start before this one."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """What goes with every call of a service: the key that no retry changes, for whom, and which try it is."""

    key: str
    cause: Cause
    at: datetime
    by: str = ""
    attempt: int = 1


class Service(Protocol):
    """A service that owns operations: billing, access, tasks, memberships, notifications."""

    name: str
    honours_keys: bool
    """Whether a repeated key is answered with the first result, which makes a repeat harmless."""

    def perform(self, command: Command, call: Call) -> Done | Refused | TryLater | Misconfigured | Unknown:
        """Do what the command says, once for each key; every expected ending is returned, not raised."""
        ...


@runtime_checkable
class Askable(Protocol):
    """A service that can be asked what became of a key, so that a call in doubt need not be made twice."""

    def look_up(self, command: Command, call: Call) -> Ending | None:
        """Return how the call with this key ended, or None where the service has never seen it.

        TryLater says that it cannot be asked now, Unknown that it does not know either.
        """
        ...


def is_repeatable(service: Service) -> bool:
    """Say whether a call in doubt may be taken up again: a repeat is harmless, or the service is asked first."""
    return service.honours_keys or isinstance(service, Askable)
