"""An operator's own services as `docs/reference/service-api.md` wants them, which behave badly on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from tests.adapters.channels.http_service import HttpService, Received, Reply
from tests.architecture.tree import ROOT

TOKEN = "t0ken-that-nobody-sees"
API: dict[str, Any] = json.loads(Path(ROOT, "docs/reference/service-api.openapi.json").read_text(encoding="utf-8"))
PROBLEM = {"content-type": "application/problem+json"}

Answer = Reply | str
Mood = Callable[[Received], "Answer | None"]
"""What a service does instead of answering well; None where it behaves."""


def well(received: Received) -> Answer | None:
    """Behave."""
    return None


def problem(status: int, **members: Any) -> Reply:
    """Return a problem (RFC 9457)."""
    return Reply(status, PROBLEM, json.dumps({"status": status, **members}).encode())


@dataclass(slots=True)
class ReferenceService:
    """Does each key once, and remembers its answer. `before` has its say before anything is done, `behind` after it."""

    http: HttpService = field(default_factory=HttpService)
    before: Mood = well
    behind: Mood = well
    done: dict[str, Reply] = field(default_factory=dict)
    effects: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    honours_keys: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.http.answer = self._answer

    @property
    def posts(self) -> list[Received]:
        """Return the requests for operations."""
        return [each for each in self.http.received if not each.path.startswith("/requests/")]

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return how it is set up as a service of Semel."""
        return {"base_url": self.http.url, "token": TOKEN, "honours_keys": self.honours_keys, "timeout_seconds": 5}

    def _answer(self, received: Received) -> Answer:
        with self.lock:
            if received.headers.get("authorization") != f"Bearer {TOKEN}":
                return problem(401, title="who are you?")
            if received.path.startswith("/requests/"):
                return self._known(unquote(received.path.removeprefix("/requests/")))
            return self.before(received) or self._performed(received)

    def _known(self, key: str) -> Reply:
        return self.done.get(key) or problem(404, title="never seen", known=False)

    def _performed(self, received: Received) -> Answer:
        fault = fault_of(received)
        if fault:
            self.faults.append(fault)
            return problem(400, title=fault)
        key = received.headers["idempotency-key"]
        if not (self.honours_keys and key in self.done):
            self.effects.append((received.path, key))
            self.done[key] = Reply(200, {}, json.dumps(self._made(received.path)).encode())
        return self.behind(received) or self.done[key]

    def _made(self, path: str) -> dict[str, Any]:
        schema = API["components"]["schemas"][f"{name_of(path)}Answer"]
        return {name: f"{name}-{len(self.effects)}" for name in schema["properties"]}


def name_of(path: str) -> str:
    """Return the name of the schema of what an operation is sent."""
    content = API["paths"][path]["post"]["requestBody"]["content"]
    return str(content["application/json"]["schema"]["$ref"]).rpartition("/")[2]


def fault_of(received: Received) -> str | None:
    """Return what a request has that the description does not allow."""
    if received.path not in API["paths"]:
        return f"no operation {received.path}"
    for parameter in API["paths"][received.path]["post"]["parameters"]:
        value = received.headers.get(parameter["name"].lower())
        if value is None or not jsonschema_rs.is_valid(parameter["schema"], value):
            return f"{parameter['name']}: {value}"
    schema = {**API["components"]["schemas"][name_of(received.path)], "components": API["components"]}
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    return next((str(each.message) for each in validator.iter_errors(json.loads(received.body))), None)


def once(answer: Answer) -> Mood:
    """Return the mood of answering badly a single time."""
    left = [answer]
    return lambda received: left.pop() if left else None
