"""One process that serves: the API, and beside it the workers. Asked to stop, it ends within a known time.

It stops accepting at once, lets requests and runs under way finish, and gives back what would take longer, so that
whoever works next takes it up without waiting.
"""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import structlog
import uvicorn

from adapters.application import Application
from adapters.crew import Crew
from adapters.loops import Loop, heartbeat
from adapters.web.api.building import build
from domain.errors import InvalidInput, Unavailable

KEPT_ALIVE = 30
"""Seconds for which a connection without a request stays open."""

MOST_CONNECTIONS = 2_000
"""Connections and requests at a time; more are answered with 503."""

BACKLOG = 1_024
"""Connections that wait to be accepted."""

logger = structlog.get_logger(__name__)


class Server(uvicorn.Server):
    """A server that ends when `stop` is set, whoever sets it, and says where it listens."""

    def __init__(self, config: uvicorn.Config, stop: threading.Event, tell: Callable[[str], object]) -> None:
        self._stop = stop
        self._tell = tell
        super().__init__(config)

    @property
    def should_exit(self) -> bool:
        """Say whether it is to end."""
        return self._stop.is_set()

    @should_exit.setter
    def should_exit(self, wanted: bool) -> None:
        if wanted:
            self._stop.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever sets `stop`."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._tell(f"http://{f'[{host}]' if ':' in host else host}:{port}")


class WorkingThread:
    """The workers of a process, in a thread of their own; if they break, the process is to stop."""

    def __init__(self, application: Application, stop: threading.Event) -> None:
        self._application = application
        self._stop = stop
        self._crew = application.crew()
        self._thread = threading.Thread(target=self._work, name="semel-work", daemon=True)
        self.broken: Exception | None = None

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def finish(self, seconds: float) -> bool:
        """Wait until what is being run has ended, or give it back; say whether it had."""
        self._thread.join(seconds)
        if not self._thread.is_alive():
            return True
        _give_back(self._crew)
        return False

    def _work(self) -> None:
        settings = self._application.settings
        try:
            with heartbeat(self._crew, settings.lease_seconds):
                Loop(self._crew, self._application.log, self._stop, poll=settings.poll_seconds).until_stopped()
                self._crew.finish()
        except Exception as error:  # the boundary of the thread: told, and raised where the process ends
            logger.exception("worker.broken")
            self.broken = error
            self._stop.set()


def serve(
    application: Application,
    stop: threading.Event,
    tell: Callable[[str], object],
    *,
    with_workers: bool = True,
) -> None:
    """Serve until `stop` is set; `tell` is told the address once it listens."""
    http = application.settings.http
    listener = listening(http.host, http.port)
    config = uvicorn.Config(
        build(application, stop),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(http.trusted_proxies),
        forwarded_allow_ips=list(http.trusted_proxies),
        timeout_keep_alive=KEPT_ALIVE,
        timeout_graceful_shutdown=max(1, int(http.stop_seconds)),
        limit_concurrency=MOST_CONNECTIONS,
        ws="none",
    )
    _spare_the_collector()
    working = WorkingThread(application, stop) if with_workers else None
    if working is not None:
        working.start()
    started_to_stop = _Stopwatch(application, stop)
    Server(config, stop, tell).run(sockets=[listener])
    stop.set()
    if working is not None:
        working.finish(max(0.5, http.stop_seconds - started_to_stop.seconds()))
        if working.broken is not None:
            raise working.broken


def _spare_the_collector() -> None:
    """Let cycles be looked for less often: what is loaded stays for ever, and hardly any request leaves cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises InvalidInput where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise InvalidInput(f"cannot listen at {host}, port {port}: {error.strerror or error}") from None


class _Stopwatch:
    """Knows for how long a process has been about to stop."""

    def __init__(self, application: Application, stop: threading.Event) -> None:
        self._clock, self._stop = application.clock, stop
        self._since: float | None = None
        threading.Thread(target=self._watch, name="semel-stopwatch", daemon=True).start()

    def seconds(self) -> float:
        return 0.0 if self._since is None else self._clock.monotonic() - self._since

    def _watch(self) -> None:
        self._stop.wait()
        self._since = self._clock.monotonic()


def _give_back(crew: Crew) -> None:
    try:
        crew.let_go()
    except Unavailable as error:  # then it is taken over once its lease has run out
        logger.warning("leases.kept", remedy=str(error))
