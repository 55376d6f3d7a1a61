"""The door for requests to tell somebody, by whoever produces them: once for each key of a producer.

A request is answered when it stands in the log. A key that comes again gets the first answer, for as long as
the log is kept; with another request it is refused, and changes nothing. What is refused for a mistake has
not used its key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from adapters.database import log_queries
from adapters.database.event_log import EventLog
from adapters.database.facts import EntityCache, FreshEntities
from adapters.database.requests import write_down
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from adapters.ingestion.inbox import fingerprint
from adapters.ingestion.notification_reading import ReadRequest, read_request, refuse_producer
from automations.ports import Clock
from domain.commands import RequestNotification
from domain.endings import Refused
from domain.errors import CorruptEvent, InvalidInput, Mistake
from domain.ids import entity, id_of
from domain.notifications import STAFF, DeliveryRequested, Requested, notification_of, request

Status = Literal["accepted", "replayed", "conflict", "refused"]

REUSED = Mistake(("idempotency_key",), "this key was used before, for another request; the first one stays as it is")
"""What is wrong with a conflict."""


@dataclass(frozen=True, slots=True)
class RequestOutcome:
    """What came of one request; `id` is that of its notification, empty where it was refused."""

    status: Status
    id: str = ""
    mistakes: tuple[Mistake, ...] = ()

    @property
    def is_good(self) -> bool:
        """Say whether the request stands in the log, now or since before."""
        return self.status in ("accepted", "replayed")


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request of a producer, the stream of its notification, and what its repeats have in common."""

    read: ReadRequest
    stream: str
    fingerprint: str


_Read = _Asked | InvalidInput


class NotificationDoor:
    """Takes requests in for one operator; serves any thread."""

    def __init__(
        self, log: EventLog, clock: Clock, salt: bytes, types: Collection[str], sleep: Callable[[float], object]
    ) -> None:
        self._log = log
        self._clock = clock
        self._salt = salt
        self._types = frozenset(types)
        self._sleep = sleep

    def request(self, producer: str, value: object) -> RequestOutcome:
        """Take one request in, and say what came of it."""
        return self.request_many(producer, [value])[0]

    def request_many(self, producer: str, values: Sequence[object]) -> list[RequestOutcome]:
        """Take requests in, in one transaction, and say of each what came of it, in their order.

        A request is JSON: `idempotency_key`, `recipient`, `type`, and if need be `payload`, `entity` and
        `channels`. Raises InvalidInput for the name of a producer, Unavailable where the database cannot be
        used: repeating the call is free.
        """
        refuse_producer(producer)
        reads = [self._read(producer, value) for value in values]
        if not any(isinstance(read, _Asked) for read in reads):
            return [_refused(read) for read in reads if isinstance(read, InvalidInput)]
        return retrying(lambda: self._attempt(producer, reads), sleep=self._sleep)

    def _read(self, producer: str, value: object) -> _Read:
        try:
            read = read_request(value, self._types)
            printed = fingerprint(read.identity, self._salt).hex()
            return _Asked(read, notification_of(producer, read.key), printed)
        except InvalidInput as error:
            return error

    def _attempt(self, producer: str, reads: Sequence[_Read]) -> list[RequestOutcome]:
        cache = EntityCache(self._log.mapper)
        asked = [each for each in reads if isinstance(each, _Asked)]
        with unit_of_work(self._log, "request") as work:
            # Most of the reading is done before others have to wait for this batch.
            people = {each.read.command.to for each in asked} - {STAFF}
            cache.at_head(work.connection).prepare(people)
            work.lock_head()
            batch = _Batch(work, producer, self._clock.now(), cache.at_head(work.connection))
            batch.look_up(self._log, [each.stream for each in asked])
            outcomes = [batch.outcome(read) for read in reads]
            write_down(work, *batch.new)
        return outcomes


@dataclass(slots=True)
class _Batch:
    """The requests of one transaction, decided one after the other, so that each sees those before it."""

    work: UnitOfWork
    producer: str
    at: datetime
    entities: FreshEntities
    known: dict[str, DeliveryRequested | CorruptEvent] = field(default_factory=dict)
    new: list[Requested] = field(default_factory=list)

    def look_up(self, log: EventLog, streams: Sequence[str]) -> None:
        """Find out which of the requests were made before."""
        for row in log_queries.streams(self.work.connection, streams):
            if row.version != 1:
                continue
            try:
                event = log.mapper.read(row)
            except CorruptEvent as error:
                self.known[row.stream] = error
                continue
            assert isinstance(event, DeliveryRequested)
            self.known[row.stream] = event

    def outcome(self, asked: _Read) -> RequestOutcome:
        """Decide on one request."""
        if isinstance(asked, InvalidInput):
            return _refused(asked)
        known = self.known.get(asked.stream)
        if known is None:
            return self._requested(asked)
        if isinstance(known, CorruptEvent):
            return _refused(known)
        if known.fingerprint == asked.fingerprint:
            return RequestOutcome("replayed", id_of(asked.stream))
        return RequestOutcome("conflict", id_of(asked.stream), (REUSED,))

    def _requested(self, asked: _Asked) -> RequestOutcome:
        try:
            command = self._whose(asked.read.command)
            if command.member_id and self.entities.get(entity("member", command.member_id)).get("erased"):
                return RequestOutcome("refused", mistakes=(Mistake(("entity",), "the member has been erased"),))
            made = request(
                command,
                self.entities.get,
                idempotency_key=asked.read.key,
                at=self.at,
                cause=None,
                producer=self.producer,
                fingerprint=asked.fingerprint,
            )
        except CorruptEvent as error:
            return _refused(error)
        if isinstance(made, Refused):
            return RequestOutcome("refused", mistakes=(Mistake((), made.reason),))
        self.known[made.event.stream] = made.event
        self.new.append(made)
        return RequestOutcome("accepted", made.event.notification)

    def _whose(self, command: RequestNotification) -> RequestNotification:
        """Return what staff are to be told with the member it is about, so that it is erased with them."""
        if command.to != STAFF or not command.entity:
            return command
        about = self.entities.get(command.entity).get("member_id")
        return command.model_copy(update={"member_id": about}) if about else command


def _refused(error: InvalidInput | CorruptEvent) -> RequestOutcome:
    told = error.mistakes if isinstance(error, InvalidInput) else (Mistake((), str(error)),)
    return RequestOutcome("refused", mistakes=told)


def counted(outcomes: Sequence[RequestOutcome]) -> Mapping[str, int]:
    """Return how many outcomes there are of each status, every status named."""
    counts: dict[str, Any] = dict.fromkeys(("accepted", "replayed", "conflict", "refused"), 0)
    for outcome in outcomes:
        counts[outcome.status] += 1
    return counts
