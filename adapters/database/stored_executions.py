"""Executions read from their streams, many at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_mapper import EventMapper
from adapters.database.log_queries import StoredRow
from domain.errors import CorruptEvent
from domain.execution_folding import execution_of
from domain.executions import Execution, key_of, stream_of


@dataclass(frozen=True, slots=True)
class Executions:
    """Executions by their key, and why those cannot be read of which an event cannot."""

    readable: dict[str, Execution] = field(default_factory=dict)
    unreadable: dict[str, CorruptEvent] = field(default_factory=dict)


def read_executions(connection: sa.Connection, mapper: EventMapper, keys: Iterable[str]) -> Executions:
    """Return those of the executions that exist."""
    by_stream: dict[str, list[StoredRow]] = {}
    for row in log_queries.streams(connection, map(stream_of, keys)):
        by_stream.setdefault(row.stream, []).append(row)
    found = Executions()
    for stream, rows in by_stream.items():
        try:
            execution = execution_of(map(mapper.read, rows))
        except CorruptEvent as error:
            found.unreadable[key_of(stream)] = error
            continue
        if execution is not None:
            found.readable[execution.key] = execution
    return found
