"""Calls of channels side by side, in threads: as many at a time as the channel says."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from automations.notifications.calls import Call, InTurn, Round
from automations.notifications.channels import CallEnding

LINGER = 0.02
"""Seconds for which the endings of other calls are waited for, so that many are recorded together."""


class ParallelCalls:
    """Makes the calls of one worker (a `Calls`); `widths` says how many of each channel, one of any other."""

    def __init__(self, widths: Mapping[str, int]) -> None:
        self._widths = dict(widths)
        self._pools: dict[str, ThreadPoolExecutor] = {}

    def width(self, channel: str) -> int:
        """Return how many calls of a channel may be under way at a time."""
        return self._widths.get(channel, 1)

    def open(self, channel: str) -> Round:
        """Begin the calls of a dispatch; those of a channel that takes one at a time need no thread."""
        width = self.width(channel)
        if width == 1:
            return InTurn()
        if channel not in self._pools:
            self._pools[channel] = ThreadPoolExecutor(width, thread_name_prefix=f"calls-{channel}")
        return _ParallelRound(self._pools[channel])

    def close(self) -> None:
        """Wait for what is under way, and let go of the threads."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.shutdown()


class _ParallelRound:
    """The calls of one dispatch, in the threads of a pool."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._under_way: dict[Future[CallEnding], str] = {}

    def begin(self, delivery: str, call: Call) -> None:
        """Begin a call in the next thread that is free."""
        self._under_way[self._pool.submit(call)] = delivery

    def ended(self, *, every: bool) -> dict[str, CallEnding]:
        """Wait for at least one call, or for every one, and return how those that are over have ended."""
        patience = None if every else LINGER
        done = wait(self._under_way, timeout=patience, return_when=ALL_COMPLETED).done
        if not done:
            done = wait(self._under_way, return_when=FIRST_COMPLETED).done
        return {self._under_way.pop(future): future.result() for future in done}
