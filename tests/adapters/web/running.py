"""A real server in a thread of the test, for what needs a network between."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from adapters.application import Application
from adapters.web.server import serve


@contextmanager
def served(application: Application, *, with_workers: bool = False) -> Iterator[str]:
    """Serve an application, and lend its address."""
    stop, told = threading.Event(), queue.Queue[str]()
    thread = threading.Thread(
        target=serve, args=(application, stop, told.put), kwargs={"with_workers": with_workers}, daemon=True
    )
    thread.start()
    try:
        yield told.get(timeout=60)
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive()
