"""Runs that charged for what does not hold any more are found as facts arrive, and as runs end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from adapters.database.event_mapper import EventMapper
from adapters.database.facts import FreshEntities
from adapters.database.follower import Page
from adapters.database.stored_executions import read_executions
from automations.preparing import operation_of
from domain.contradictions import CHARGES, SAYING, ExecutionBorneOut, ExecutionContradicted, contradiction
from domain.errors import CorruptEvent
from domain.events import DomainEvent
from domain.executions import ActionDone, Execution, key_of, stream_of
from projections.executions import executions


def contradictions(
    connection: sa.Connection, mapper: EventMapper, entities: FreshEntities, page: Page, at: datetime
) -> list[DomainEvent]:
    """Return what is to be recorded of runs that a page of events contradicts, or bears out again."""
    keys = {*_of_facts(connection, page), *_just_charged(page)}
    if not keys:
        return []
    found = read_executions(connection, mapper, keys).readable.values()
    return [event for execution in found for event in _decided(execution, entities, at)]


def _of_facts(connection: sa.Connection, page: Page) -> set[str]:
    """Return the runs that are done about entities whose status a fact has changed."""
    changed = {fact.stream for fact in page.facts if fact.version > 1 and "status" in fact.changed}
    if not changed:
        return set()
    return set(connection.scalars(_DONE, {"about": sorted(changed), "by": list(SAYING)}))


def _just_charged(page: Page) -> Iterator[str]:
    for entry in page.recorded:
        event = entry.event
        if isinstance(event, ActionDone) and event.status == "done" and event.operation in CHARGES:
            yield key_of(event.stream)


def _decided(execution: Execution, entities: FreshEntities, at: datetime) -> Iterator[DomainEvent]:
    charged = next(iter(_charges(execution)), None)
    if execution.status != "done" or charged is None:
        return
    try:
        reason = contradiction(execution, entities.get(execution.claim.entity))
    except CorruptEvent:  # nobody knows what the entity is like now
        return
    if (reason is not None) is execution.contradicted:
        return
    common: dict[str, Any] = {
        "stream": stream_of(execution.key),
        "version": execution.version + 1,
        "at": at,
        "cause": execution.occurrence.cause,
    }
    if reason is not None:
        yield ExecutionContradicted(**common, operation=charged, reason=reason)
    else:
        yield ExecutionBorneOut(**common, reason="what it was charged for holds again")


def _charges(execution: Execution) -> Iterator[str]:
    if execution.claim.trigger in SAYING:
        names = execution.occurrence.actions
        operations = (operation_of(names[number]) for number in sorted(execution.succeeded))
        yield from (operation for operation in operations if operation in CHARGES)


_DONE = sa.select(executions.c.key).where(
    executions.c.entity.in_(sa.bindparam("about", expanding=True)),
    executions.c.trigger.in_(sa.bindparam("by", expanding=True)),
    executions.c.status == "done",
)
