"""A mail server that answers what the test says in each phase: replies, or worse."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

DROP = "drop"
HANG = "hang"
CRAWL = "crawl"

_PHASES = {"EHLO": "hello", "MAIL": "sender", "RCPT": "recipient", "DATA": "data", "RSET": "reset", "QUIT": "leave"}
_GOOD = {"connect": "220 ready", "hello": "250 hello", "data": "354 go on", "leave": "221 bye"}


@dataclass
class ScriptedMailServer:
    """Listens on loopback. `answers` maps phases to a reply, to `DROP`, `HANG` or `CRAWL`, or to a function.

    The phases are those of the channel, besides `reset` and `leave`. A function gets how often its phase was
    reached before.
    """

    answers: dict[str, Any] = field(default_factory=dict)
    mails: list[bytes] = field(default_factory=list)
    commands: list[bytes] = field(default_factory=list)
    connections: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    _counts: dict[str, int] = field(default_factory=dict)
    _threads: list[threading.Thread] = field(default_factory=list)
    _sockets: list[socket.socket] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def close(self) -> None:
        if self.over.is_set():
            return
        self.over.set()
        # A listener that is closed alone goes on waiting.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)
        for each in self._sockets:
            each.close()

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.append(accepted)
            accepted.settimeout(5)
            self._start(lambda channel=accepted: self._serve(channel))  # type: ignore[misc]

    def _serve(self, channel: socket.socket) -> None:
        try:
            with channel, channel.makefile("rb") as lines:
                if self._answer(channel, "connect"):
                    while self._serve_command(channel, lines):
                        pass
        except OSError:
            pass

    def _serve_command(self, channel: socket.socket, lines: Any) -> bool:
        line = lines.readline()
        if not line:
            return False
        self.commands.append(line.rstrip(b"\r\n"))
        phase = _PHASES.get(line[:4].decode("ascii").upper(), "other")
        if not self._answer(channel, phase) or phase == "leave":
            return False
        if phase == "data" and self._said.startswith("354"):
            self.mails.append(b"".join(iter(lines.readline, b".\r\n")))
            return self._answer(channel, "content")
        return True

    def _answer(self, channel: socket.socket, phase: str) -> bool:
        """Answer in a phase; say whether the connection goes on."""
        count = self._counts.get(phase, 0)
        self._counts[phase] = count + 1
        answer = self.answers.get(phase, _GOOD.get(phase, "250 fine"))
        said: str = answer(count) if callable(answer) else answer
        if said == HANG:
            self.over.wait(5)
            return False
        if said == CRAWL:
            while not self.over.wait(0.02):
                channel.sendall(b"250-")
            return False
        if said == DROP:
            return False
        self._said = said
        channel.sendall(said.replace("\n", "\r\n").encode("utf-8") + b"\r\n")
        return True
