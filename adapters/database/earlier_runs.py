"""What rules did while they acted once for something else: a changed `once` rewinds nothing (semantics 1)."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_mapper import EventMapper
from adapters.database.projecting import FOLLOWER
from adapters.database.stored_executions import read_executions
from automations.candidates import Candidate
from domain.executions import Execution, ExecutionStarted, key_of
from projections.executions import executed


class EarlierRuns:
    """The runs of rules under an earlier `once`, over the connection of one batch of claims.

    The projection tells what it has taken over; what was claimed since is read from the log.
    """

    def __init__(self, connection: sa.Connection, mapper: EventMapper) -> None:
        self._connection = connection
        self._mapper = mapper
        self._claimed: list[Execution] = []

    def add(self, execution: Execution) -> None:
        """Take over a claim of this batch."""
        self._claimed.append(execution)

    def hold(self, candidate: Candidate) -> bool:
        """Say whether the rule was executed for the entity and date (under `entity`: on any) before."""
        state = candidate.rule.state
        if not state.once_changed:
            return False
        versions = [number for number, rule in state.wordings.items() if rule.once != state.rule.once]
        on = None if state.rule.once == "entity" else candidate.event_date
        if executed(self._connection, candidate.rule.id, candidate.entity, on, versions) is not None:
            return True
        return any(
            (run.claim.rule, run.claim.entity) == (candidate.rule.id, candidate.entity)
            and run.occurrence.rule_version in versions
            and on in (None, run.occurrence.event_date)
            and not run.rearmable
            for run in (*self._unprojected, *self._claimed)
        )

    @cached_property
    def _unprojected(self) -> Collection[Execution]:
        reached = log_queries.tracked_position(self._connection, FOLLOWER)
        begun = log_queries.streams_begun_after(self._connection, reached, ExecutionStarted.TOPIC)
        return read_executions(self._connection, self._mapper, map(key_of, begun)).readable.values()
