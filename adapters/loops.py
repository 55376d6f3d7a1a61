"""How a worker is kept going: until nothing is left, or until somebody stops it, with signs of life meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import sqlalchemy as sa
import structlog

from adapters.database.claims import QUEUE
from adapters.database.delivery_queue import is_delivery
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.schema import queue
from adapters.workers import Worked
from domain.errors import Conflict, Unavailable

BEATS = 4
"""Signs of life in the time of one lease: two may get lost."""

LONGEST_PAUSE = 30.0
"""Seconds between two tries while the database cannot be reached."""

SLICE = 1.0
"""Seconds of one wait for news; a wish to stop is seen after each."""

Sign = tuple[str, int, int]
"""Owner, attempt and beat of a leased item."""

logger = structlog.get_logger(__name__)


class Alive(Protocol):
    """What holds leases and can show that it still works on them."""

    def beat(self) -> None:
        """Show that it is alive; called from another thread."""
        ...


class Working(Protocol):
    """What does one round after another: a worker, or the crew of a process."""

    @property
    def owner(self) -> str:
        """Return the name under which it leases executions."""
        ...

    @property
    def worked(self) -> Worked:
        """Return what it has done so far."""
        ...

    def work_once(self) -> bool:
        """Do one round of everything; say whether there was anything to do."""
        ...


class Loop:
    """The loop of one process over one log.

    `stop` is set from outside, by a signal for instance; what is being run then is finished first.
    """

    def __init__(
        self,
        crew: Working,
        log: EventLog,
        stop: threading.Event,
        *,
        poll: float,
        progress: Callable[[Worked], None] = lambda worked: None,
    ) -> None:
        self._crew = crew
        self._log = log
        self._stop = stop
        self._poll = poll
        self._progress = progress
        self._heard = log.wait_for_news(0)

    def until_stopped(self) -> Worked:
        """Work, wait for news, and work again until `stop` is set; a lost database is waited for."""
        pause = self._poll
        while not self._stop.is_set():
            try:
                while self._round():
                    pause = self._poll
                self._wait()
            except Unavailable as error:
                logger.warning("database.unavailable", remedy=str(error))
                self._stop.wait(pause)
                pause = min(LONGEST_PAUSE, pause * 2)
        return self._crew.worked

    def until_idle(self, waiting: Callable[[int], None]) -> Worked:
        """Work until nothing is left that can be done now.

        What a worker holds that shows no sign of life is waited for, until its lease has run out and it is
        taken over; `waiting` is told how many runs those are, whenever the number changes.
        """
        seen: dict[str, Sign] = {}
        told = 0
        while not self._stop.is_set():
            if self._round():
                continue
            held = self._held_elsewhere()
            still = [item for item, sign in held.items() if seen.setdefault(item, sign) == sign]
            if not still:
                break
            if len(still) != told:
                told = len(still)
                waiting(told)
            self._wait()
        return self._crew.worked

    def _round(self) -> bool:
        if self._stop.is_set():
            return False
        try:
            went_on = self._crew.work_once()
        except Conflict:  # another worker took over what this one was about to do
            went_on = True
        if went_on:
            self._progress(self._crew.worked)
        return went_on

    def _wait(self) -> None:
        left = self._poll
        before = self._heard
        while left > 0 and self._heard == before and not self._stop.is_set():
            self._heard = self._log.wait_for_news(min(left, SLICE), self._heard)
            left -= SLICE

    def _held_elsewhere(self) -> dict[str, Sign]:
        with reading(self._log.engine) as connection:
            rows = connection.execute(_HELD, {"own": self._crew.owner})
            return {
                f"{name} {item}": (owner, attempt, beat)
                for name, item, owner, attempt, beat in rows
                if name == QUEUE or is_delivery(name)
            }


@contextmanager
def heartbeat(alive: Alive, lease_seconds: float) -> Iterator[None]:
    """Show signs of life for all that a process holds, from a thread of its own, while the block runs."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(lease_seconds / BEATS):
            try:
                alive.beat()
            except Unavailable as error:
                logger.warning("heartbeat.missed", remedy=str(error))

    thread = threading.Thread(target=beat, name="semel-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


_HELD = sa.select(queue.c.queue, queue.c.item, queue.c.owner, queue.c.attempt, queue.c.beat).where(
    queue.c.owner.is_not(None), queue.c.owner != sa.bindparam("own")
)
