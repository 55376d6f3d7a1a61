"""One thread that waits for all connections, so that many calls can be on their way at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """An event loop in a thread of its own, which ends with the process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="channels", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine comes to; the calling thread waits, others go on."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()


@lru_cache(maxsize=1)
def background() -> Background:
    """Return the loop of this process, started when it is first asked for."""
    return Background()
