"""One ear on the log for all answers of a process that never end: however many listen, one thread waits for news."""

from __future__ import annotations

import asyncio
import contextlib
import threading

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from adapters.database.event_log import EventLog

SLICE = 1.0
"""Seconds of one wait: as news is only a hint, whoever listens looks again at least this often."""


class Bell:
    """Wakes everybody who listens, at news of the log and once a second anyway."""

    def __init__(self, log: EventLog, stop: threading.Event) -> None:
        self._log = log
        self._stop = stop
        self._rung = asyncio.Event()
        self._limiter = CapacityLimiter(1)
        self._task: asyncio.Task[None] | None = None

    async def wait(self) -> bool:
        """Wait for the next ring; say whether to go on, which the end of the process forbids."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen())
        rung = self._rung
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(rung.wait(), 2 * SLICE)
        return not self._stop.is_set()

    async def close(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _listen(self) -> None:
        heard: int | None = None
        while not self._stop.is_set():
            heard = await run_sync(self._log.wait_for_news, SLICE, heard, limiter=self._limiter)
            self._rung.set()
            self._rung = asyncio.Event()
