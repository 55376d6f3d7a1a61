"""Which execution of ours made an outside event happen: by the key that comes back with it, or by an id."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from adapters.database import returned_ids
from adapters.database.event_mapper import EventMapper
from adapters.database.returned_ids import Returned
from adapters.database.stored_executions import read_executions
from adapters.ingestion.incoming import Incoming
from domain import catalogue
from domain.events import Cause
from domain.nouns import NOUN_OF_TYPE


class Causes:
    """Finds the causes of one batch of incoming events."""

    def __init__(self, connection: sa.Connection, mapper: EventMapper, incoming: Sequence[Incoming]) -> None:
        self._connection = connection
        self._mapper = mapper
        named = (_named(event) for event in incoming)
        self._returned = returned_ids.among(connection, {entity for entity in named if entity is not None})

    def of(self, incoming: Incoming) -> Cause | None:
        """Return the execution that made an event happen, with the rules that led there, or None."""
        if incoming.cause is not None:
            return incoming.cause
        if incoming.idempotency_key:
            return self._caused_by(incoming.idempotency_key.partition("/")[0])
        returned = self._found(incoming)
        return None if returned is None else self._caused_by(returned.execution)

    def _found(self, incoming: Incoming) -> Returned | None:
        returned = self._returned.get(_named(incoming) or "")
        return returned if returned is not None and returned.covers(incoming.time) else None

    def _caused_by(self, key: str) -> Cause | None:
        execution = read_executions(self._connection, self._mapper, [key]).readable.get(key)
        if execution is None:
            return None
        chain = execution.occurrence.cause.rules if execution.occurrence.cause else ()
        rule = execution.claim.rule
        return Cause(execution=key, rules=(*chain, rule) if rule else chain)


def _named(incoming: Incoming) -> str | None:
    """Return the entity whose id a call may have returned.

    A part of an entity, such as the payment of an invoice, is somebody else's doing.
    """
    if incoming.cause is not None or incoming.idempotency_key or not catalogue.known(incoming.type):
        return None
    noun = NOUN_OF_TYPE[incoming.type]
    return None if noun.types[incoming.type].part else noun.entity(incoming.data)
