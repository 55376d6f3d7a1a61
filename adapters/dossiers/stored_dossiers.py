"""Dossiers read from their streams; an event that cannot be read is passed over."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_mapper import EventMapper
from domain.dossiers import DossierEvent, DossierState, after_dossier_event, dossier_stream
from domain.errors import CorruptEvent


def stored_events(connection: sa.Connection, mapper: EventMapper, dossier: str) -> list[DossierEvent]:
    """Return the events of a dossier that can be read."""
    found: list[DossierEvent] = []
    for row in log_queries.streams(connection, [dossier_stream(dossier)]):
        with contextlib.suppress(CorruptEvent):
            event = mapper.read(row)
            if isinstance(event, DossierEvent):
                found.append(event)
    return found


def stored_state(connection: sa.Connection, mapper: EventMapper, dossier: str) -> DossierState:
    """Return a dossier as its events left it; its version counts all of them."""
    state = DossierState()
    for event in stored_events(connection, mapper, dossier):
        state = after_dossier_event(state, event)
    stream = dossier_stream(dossier)
    return replace(state, version=log_queries.last_versions(connection, [stream]).get(stream, 0))
