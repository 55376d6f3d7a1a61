"""A service over HTTP that answers, refuses, stalls and hangs up as chance has it, in a process of its own.

`python -m tests.crashes.chaos_service SEED` prints its address. `POST /<service>/<operation>` with the header
`Idempotency-Key` asks for something; `GET /ledger` tells what became of every request, key by key. `billing`
honours keys: what it has done or refused once it answers again. `tasks` knows nothing of keys.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Fate = Literal[
    "done", "refused", "later", "slow down", "denied", "lost", "done and lost", "cut off", "done and cut off"
]

FATES: dict[Fate, float] = {
    "done": 60,
    "refused": 5,
    "later": 9,
    "slow down": 3,
    "denied": 0.2,
    "lost": 6,
    "done and lost": 6,
    "cut off": 5,
    "done and cut off": 5.5,
}
"""How likely each fate of a request is; what is lost or cut off is never answered."""

EFFECTS = frozenset({"done", "done and lost", "done and cut off"})
UNANSWERED = frozenset({"lost", "done and lost", "cut off", "done and cut off"})
HONOURS_KEYS = {"billing": True, "tasks": False}
STALL = 1.0
"""Seconds for which a request that is lost is held: longer than anybody waits."""

ANSWERS: dict[Fate, tuple[int, str, dict[str, str]]] = {
    "done": (200, '{"id": "42"}', {}),
    "refused": (422, "not allowed", {}),
    "later": (503, "too busy", {}),
    "slow down": (429, "too many requests", {"Retry-After": "3"}),
    "denied": (401, "who are you?", {}),
}


@dataclass(slots=True)
class Ledger:
    """What became of every request, by service and key; shared by all threads."""

    chance: random.Random
    fates: dict[str, dict[str, list[Fate]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fate(self, service: str, key: str) -> Fate:
        """Decide what becomes of a request, and note it."""
        with self.lock:
            before = self.fates[service][key]
            fate = self.chance.choices(list(FATES), list(FATES.values()))[0]
            if HONOURS_KEYS[service]:
                fate = _again(fate, before)
            before.append(fate)
            return fate


def _again(fate: Fate, before: list[Fate]) -> Fate:
    """Return the fate of a repeat: what was done or refused stays so, whether or not the answer arrives."""
    if "refused" in before and fate in EFFECTS | {"refused"}:
        return "refused"
    if EFFECTS.intersection(before) and fate == "refused":
        return "done"
    return fate


class Handler(BaseHTTPRequestHandler):
    """Answers one request, or does not."""

    ledger: Ledger

    def do_POST(self) -> None:
        """Do what is asked for, as chance has it."""
        self.rfile.read(int(self.headers["Content-Length"]))
        fate = self.ledger.fate(self.path.split("/")[1], self.headers["Idempotency-Key"])
        if fate in UNANSWERED:
            if fate.endswith("lost"):
                time.sleep(STALL)
            self.close_connection = True
            return
        self._answer(*ANSWERS[fate])

    def do_GET(self) -> None:
        """Tell what became of every request."""
        with self.ledger.lock:
            text = json.dumps(self.ledger.fates)
        self._answer(200, text, {})

    def _answer(self, status: int, text: str, headers: dict[str, str]) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server that many may ask at once."""

    request_queue_size = 100
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked may be dead: that is what this is for."""


def end_with_parent() -> None:
    """End this process once whoever started it is gone."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    end_with_parent()
    Handler.ledger = Ledger(random.Random(int(sys.argv[1])))
    server = Server(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
