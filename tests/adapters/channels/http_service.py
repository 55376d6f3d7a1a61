"""An HTTP service that answers what the test says: statuses, or worse; it keeps what it was sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 0.7
"""Seconds that a test waits for a service that never answers: long enough for a busy machine to get that far."""

HANG = "hang"
CRAWL = "crawl"
DROP = "drop"
EARLY_DROP = "early drop"
"""Before the request was read."""


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """An answer; with `crawls` its body never ends."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    crawls: bool = False
    cut_short: bool = False


Answer = Reply | str | Callable[[Received], "Reply | str"]


class HttpService:
    """Listens on loopback, and answers `answer`."""

    def __init__(self) -> None:
        self.answer: Answer = Reply(200)
        self.received: list[Received] = []
        self.connections = 0
        self.over = threading.Event()
        service = self

        class Handler(_Handler):
            pass

        Handler.service = service
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(0.02), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: HttpService
    timeout = 5

    def setup(self) -> None:
        super().setup()
        self.service.connections += 1

    def parse_request(self) -> bool:
        if self.service.answer == EARLY_DROP:
            self.close_connection = True
            return False
        return super().parse_request()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        received = Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        self.service.received.append(received)
        answer = self.service.answer
        said = answer(received) if callable(answer) else answer
        if isinstance(said, str):
            self.close_connection = True
            self._misbehave(said)
        else:
            self._reply(said)

    def do_GET(self) -> None:
        self.do_POST()

    def _misbehave(self, how: str) -> None:
        if how == HANG:
            self.service.over.wait(5)
        while how == CRAWL and not self.service.over.wait(0.02):
            self.wfile.write(b"H")

    def _reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        more = reply.crawls or reply.cut_short
        self.send_header("content-length", str(len(reply.body) + (1_000_000 if more else 0)))
        self.end_headers()
        self.wfile.write(reply.body)
        while reply.crawls and not self.service.over.wait(0.02):
            self.wfile.write(b" ")
        self.close_connection = self.close_connection or more

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
