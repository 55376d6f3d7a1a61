"""Addresses are suppressed, and suppressions lifted: once for each cause, whoever says it how often."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_log import EventLog
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from automations.ports import Clock
from domain import suppressions as decide
from domain.errors import InvalidInput
from domain.events import DomainEvent
from domain.ids import entity
from domain.suppressions import AddressSuppressed, Scope, SuppressionLifted, Suppressions, Why, suppression_stream


class SuppressionDesk:
    """Where it is kept what is against addresses; `salt` goes into the hashes that stand for them."""

    def __init__(self, log: EventLog, clock: Clock, salt: bytes) -> None:
        self._log = log
        self._clock = clock
        self._salt = salt

    def suppress(
        self,
        channel: str,
        address: str,
        why: Why,
        *,
        scope: Scope | None = None,
        source: str = "",
        detail: str = "",
        member: str = "",
    ) -> Sequence[DomainEvent]:
        """Note that an address must not be written to; return what that changed."""
        stream = self.stream_of(channel, address)
        return self._change(
            stream,
            lambda known, at: decide.suppressed(
                known, channel, why, at=at, scope=scope, source=source, detail=detail, member=member
            ),
        )

    def suppress_in(
        self,
        work: UnitOfWork,
        channel: str,
        address: str,
        why: Why,
        *,
        at: datetime,
        scope: Scope | None = None,
        source: str = "",
        detail: str = "",
        member: str = "",
    ) -> list[AddressSuppressed]:
        """Do the same within a transaction; raises Conflict with it where another was faster."""
        work.flush()  # what this transaction has to say about the same address counts too
        known = self._read(work.connection, self.stream_of(channel, address))
        events = decide.suppressed(known, channel, why, at=at, scope=scope, source=source, detail=detail, member=member)
        work.append(events)
        return events

    def proof_of_life(self, channel: str, address: str) -> Sequence[DomainEvent]:
        """Note that somebody was reached at an address: bounces are lifted, and nothing else."""
        return self._change(self.stream_of(channel, address), lambda known, at: decide.alive(known, at=at))

    def proof_in(self, work: UnitOfWork, channel: str, address: str, *, at: datetime, sent_at: datetime) -> None:
        """Note within a transaction that a message has reached an address; bounces from before it was sent are over."""
        work.flush()
        known = self._read(work.connection, self.stream_of(channel, address))
        older = {key: each for key, each in known.standing.items() if each.since <= sent_at}
        work.append(decide.alive(replace(known, standing=older), at=at, reason="a message has reached the address"))

    def lift(self, suppression: str, *, reason: str, by: str = "") -> Sequence[SuppressionLifted]:
        """Lift everything against the address of a suppression; raises InvalidInput where nothing stands."""
        lifted: list[SuppressionLifted] = []

        def decision(known: Suppressions, at: datetime) -> list[SuppressionLifted]:
            lifted[:] = decide.lifted(known, at=at, reason=reason, by=by)
            if not lifted:
                raise InvalidInput(f"no suppression {suppression!r} stands")
            return lifted

        self._change(entity("suppression", suppression), decision)
        return lifted

    def stream_of(self, channel: str, address: str) -> str:
        """Return the stream of an address on a channel."""
        return suppression_stream(channel, address, self._salt)

    def _change(
        self, stream: str, decision: Callable[[Suppressions, datetime], Sequence[DomainEvent]]
    ) -> Sequence[DomainEvent]:
        def attempt() -> Sequence[DomainEvent]:
            with unit_of_work(self._log, "suppressions") as work:
                events = decision(self._read(work.connection, stream), self._clock.now())
                work.append(events)
                return events

        return retrying(attempt, sleep=time.sleep)

    def _read(self, connection: sa.Connection, stream: str) -> Suppressions:
        return decide.suppressions_of(stream, map(self._log.mapper.read, log_queries.streams(connection, [stream])))
