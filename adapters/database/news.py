"""Word that something was recorded, so that loops need not wait for their next poll.

It is only a hint, which may come late, twice or never; whoever listens polls as well. Loops of one process
share a condition. Across processes PostgreSQL passes the word on; with a SQLite file the poll has to do.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import sqlalchemy as sa


class News:
    """The hint within one process."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._count = 0

    def ring(self) -> None:
        """Wake everybody who waits; called after a commit."""
        self._ring_here()

    def wait(self, timeout: float, heard: int | None = None) -> int:
        """Return at the next ring, or after `timeout` seconds, with the number of the last ring.

        Who passes the number it got before it looked misses nothing that rang while it looked.
        """
        with self._condition:
            since = self._count if heard is None else heard
            self._condition.wait_for(lambda: self._count != since, timeout)
            return self._count

    def close(self) -> None:
        """Stop listening, and let go of what that takes."""

    def _ring_here(self) -> None:
        with self._condition:
            self._count += 1
            self._condition.notify_all()


class PostgresNews(News):
    """The hint among all processes that use one schema.

    It keeps two connections of its own: one to tell, which is made at the first ring, and one to listen,
    made at the first wait. Telling happens after the commit and apart from it: inside, PostgreSQL would
    make all commits of the whole server that tell something wait for each other.
    """

    RECONNECT = 1.0
    """Seconds until a broken line is tried again, and between looks at whether to close."""

    def __init__(self, engine: sa.Engine) -> None:
        super().__init__()
        self._engine = engine
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._teller: psycopg.Connection[Any] | None = None
        self._channel = ""
        self._listener: threading.Thread | None = None

    def ring(self) -> None:
        """Wake everybody who waits, here and elsewhere."""
        self._ring_here()
        with self._lock:
            if self._closed.is_set():
                return
            try:
                self._tell()
            except (sa.exc.SQLAlchemyError, psycopg.Error):
                self._hang_up()

    def wait(self, timeout: float, heard: int | None = None) -> int:
        """Return like `News.wait`, for rings of any process."""
        with self._lock:
            if self._listener is None and not self._closed.is_set():
                self._listener = threading.Thread(target=self._listen, name="semel-news", daemon=True)
                self._listener.start()
        return super().wait(timeout, heard)

    def close(self) -> None:
        """Stop listening, and close both connections."""
        self._closed.set()
        with self._lock:
            self._hang_up()
        if self._listener is not None:
            self._listener.join()

    def _tell(self) -> None:
        if self._teller is None:
            self._teller = _line(self._engine)
            self._channel = _channel(self._teller)
        self._teller.execute("SELECT pg_notify(%s, '')", (self._channel,))

    def _hang_up(self) -> None:
        if self._teller is not None:
            with contextlib.suppress(psycopg.Error):
                self._teller.close()
        self._teller = None

    def _listen(self) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(sa.exc.SQLAlchemyError, psycopg.Error):
                for _ in self._rings():
                    self._ring_here()
            self._closed.wait(self.RECONNECT)

    def _rings(self) -> Iterator[None]:
        """Return one item for each ring heard, until closed; and one at first, for those not heard before."""
        with contextlib.closing(_line(self._engine)) as line:
            name = psycopg.sql.Identifier(_channel(line))
            line.execute(psycopg.sql.SQL("LISTEN {}").format(name))
            yield
            while not self._closed.is_set():
                for _ in line.notifies(timeout=self.RECONNECT, stop_after=1):
                    yield


def news_of(engine: sa.Engine) -> News:
    """Return what carries the word for a database."""
    return PostgresNews(engine) if engine.dialect.name == "postgresql" else News()


def _line(engine: sa.Engine) -> psycopg.Connection[Any]:
    """Return a connection outside the pool, on which each statement is a transaction."""
    pooled = engine.raw_connection()
    connection: Any = pooled.driver_connection
    pooled.detach()
    connection.autocommit = True
    line: psycopg.Connection[Any] = connection
    return line


def _channel(line: psycopg.Connection[Any]) -> str:
    row = line.execute("SELECT current_schema()").fetchone()
    return f"semel_{row[0] if row else ''}"
