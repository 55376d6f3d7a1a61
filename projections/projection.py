"""What a projection is: tables of its own, filled from the events of the log in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import sqlalchemy as sa

from domain.events import DomainEvent
from domain.facts import Entity, Fact


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event and its place in the log."""

    position: int
    event: DomainEvent


@dataclass(frozen=True, slots=True)
class Batch:
    """Some events in log order, and the states of the entities that they are about.

    `find` returns a state no older than the last of these events; a later one is fine, since a projection
    of states ends the same whatever was recorded in between. `looked_until` is the instant up to which ticks
    have looked.
    """

    recorded: Sequence[Recorded]
    find: Callable[[str], Entity]
    looked_until: datetime

    def entities(self, kind: str) -> list[Entity]:
        """Return the states of the entities of one kind that this batch is about, each once."""
        prefix = f"{kind}/"
        streams = {
            entry.event.stream: None
            for entry in self.recorded
            if isinstance(entry.event, Fact) and entry.event.stream.startswith(prefix)
        }
        return [self.find(stream) for stream in streams]


class Projection(Protocol):
    """Tables that can be dropped and filled again from the first event."""

    tables: tuple[sa.Table, ...]

    def apply(self, connection: sa.Connection, batch: Batch) -> None:
        """Take a batch over into the tables, in the transaction that moves the follower on."""
        ...
