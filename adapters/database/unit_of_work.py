"""One transaction in which events, a follower's position, and rows of any table stand or fall together."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import sqlalchemy as sa

from adapters.database.engine import writing
from adapters.database.event_log import EventLog
from adapters.database.failures import Contended
from adapters.database.log_queries import existing_versions
from adapters.points import Point
from domain.errors import Conflict
from domain.events import DomainEvent

T = TypeVar("T")


class UnitOfWork:
    """What one writing transaction is about to commit.

    Everything else than events goes through `connection`. Once the transaction is over, `positions` and
    `topics` hold those of the events, in the order of their appending.
    """

    def __init__(self, log: EventLog, connection: sa.Connection) -> None:
        self.connection = connection
        self.positions: list[int] = []
        self.topics: tuple[str, ...] = ()
        self._log = log
        self._pending: list[DomainEvent] = []
        self._head_locked = False
        self._ringing = False
        self._after_commit: list[Callable[[], object]] = []

    def append(self, events: Iterable[DomainEvent]) -> None:
        """Record events with the commit, each at the version of its stream that it names.

        They are written last, so that the head of the log is held for a moment only; after `lock_head` at
        once. Raises Conflict, here or at the end, where a version is taken or does not follow the one before.
        """
        self._pending.extend(events)
        if self._head_locked:
            self.flush()

    def track(self, follower: str, position: int, after: int | None = None) -> None:
        """Move a follower on; see `EventLog.track`, and pass `after` wherever it is known."""
        self._log.track(self.connection, follower, position, after)

    def lock_head(self) -> int:
        """Keep other writers out until the commit and return the last position.

        Only where a check must stay true until then: everybody else waits.
        """
        self._head_locked = True
        return self._log.lock(self.connection)

    def wake(self) -> None:
        """Wake those who wait for news after the commit, even where no event was appended."""
        self._ringing = True

    def after_commit(self, action: Callable[[], object]) -> None:
        """Do something in memory once all this is committed, and not at all if it is not."""
        self._after_commit.append(action)

    def flush(self) -> None:
        """Write the events appended so far; from here on the head is held."""
        if not self._pending:
            return
        pending, self._pending = self._pending, []
        self.topics += tuple(event.topic for event in pending)
        self._check_versions(pending)
        stored = [self._log.mapper.to_stored_event(event) for event in pending]
        self.positions += self._log.insert_events(stored, connection=self.connection)
        self._ringing = True

    def committed(self) -> None:
        """Do what waited for the commit, and tell the news."""
        for action in self._after_commit:
            action()
        if self._ringing:
            self._log.news.ring()

    def _check_versions(self, events: Sequence[DomainEvent]) -> None:
        """Refuse gaps, which the unique index lets through and a state from a lost transaction would make."""
        last: dict[str, int] = {}
        before: dict[str, int] = {}
        for event in events:
            known = last.get(event.stream)
            if known is not None and event.version != known + 1:
                raise Conflict(f"version {event.version} of {event.stream} cannot follow version {known}")
            if known is None and event.version != 1:
                before[event.stream] = event.version - 1
            last[event.stream] = event.version
        missing = before.keys() - existing_versions(self.connection, before) if before else set()
        for stream in sorted(missing):
            raise Conflict(f"version {before[stream] + 1} of {stream} has none before it in the log")


@contextmanager
def unit_of_work(log: EventLog, purpose: str = "") -> Iterator[UnitOfWork]:
    """Hold one writing transaction; it commits at the end and wakes those who wait, or leaves nothing behind.

    `purpose` names the points before and after the commit. Raises what `adapters.database.failures` describes,
    Conflict above all: read again and decide again.
    """
    with writing(log.engine) as connection:
        work = UnitOfWork(log, connection)
        yield work
        work.flush()
        log.points(Point("before commit", purpose, work.topics))
    log.points(Point("after commit", purpose, work.topics))
    work.committed()


def retrying(
    action: Callable[[], T],
    *,
    sleep: Callable[[float], object],
    attempts: int = 8,
    pause: float = 0.005,
    longest: float = 1.0,
    jitter: Callable[[], float] = random.random,
    after: tuple[type[Exception], ...] = (Conflict, Contended),
) -> T:
    """Return what an action returns, which is done anew when another transaction was in the way.

    The action has to read and decide again each time: it is retried after Conflict and after a deadlock, a
    serialization failure or a locked file (`after` may leave one out), but not where the database is down.
    Pauses double from `pause` up to `longest` seconds and shrink by `jitter`, between 0 and 1, so that racers
    part. After so many attempts the last error is raised.
    """
    for number in range(attempts - 1):
        try:
            return action()
        except after:
            sleep(min(longest, pause * 2**number) * jitter())
    return action()
