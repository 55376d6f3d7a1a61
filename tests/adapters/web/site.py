"""A site: one operator's Semel as it is reached over HTTP, with callers of every kind, on a simulated clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from httpx import Response

from adapters.application import Application
from adapters.clock import SimulatedClock
from adapters.settings import read_settings
from adapters.web.api.building import build
from adapters.web.reception import Reception
from tests.adapters.web.wire import Client, wired

START = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
PASSWORD = "a sentence that is long"


@dataclass
class Site:
    """What tests ask for, and what stands behind it."""

    application: Application
    clock: SimulatedClock
    client: Client
    reception: Reception
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def token(self, *scopes: str, name: str = "") -> str:
        """Return the text of a new token."""
        return self.reception.tokens.create(name or f"t{next(self._numbers)}", scopes, "tests").text

    def user(self, name: str, role: str, password: str = PASSWORD) -> None:
        """Add somebody who may sign in."""
        self.reception.users.add(name, role, password, "tests")

    def browser(self, name: str, password: str = PASSWORD) -> Browser:
        """Return the browser of somebody who has signed in."""
        browser = Browser(self.client.another())
        answer = browser.client.post("/v1/session", json={"user": name, "password": password})
        assert answer.status_code == 200, answer.text
        browser.csrf = answer.json()["csrf_token"]
        return browser

    def call(self, method: str, path: str, *scopes: str, **more: Any) -> Response:
        """Ask for something with a new token that has these scopes; without any, with none."""
        headers = {"authorization": f"Bearer {self.token(*scopes)}"} if scopes else {}
        return self.client.request(method, path, headers={**headers, **more.pop("headers", {})}, **more)

    def settle(self) -> None:
        """Work until nothing is left to do."""
        self.application.crew().work_through()


@dataclass
class Browser:
    """Keeps a session, and sends the token against forgery with each request."""

    client: Client
    csrf: str = ""

    def call(self, method: str, path: str, **more: Any) -> Response:
        """Ask for something."""
        headers = {"x-csrf-token": self.csrf, **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more)


@contextmanager
def site_on(url: str, **settings: Any) -> Iterator[Site]:
    """Hold a site over a fresh database."""
    clock = SimulatedClock(START)
    application = Application(read_settings(database_url=url, **settings), clock=clock, jitter=lambda: 1.0)
    application.install()
    with wired(build(application)) as client:
        yield Site(application, clock, client, Reception(application))
    application.close()


def event(number: int | str, kind: str = "coffee.made", **data: Any) -> dict[str, Any]:
    """Return a CloudEvent."""
    return {
        "specversion": "1.0",
        "id": f"e{number}",
        "source": "tests",
        "type": kind,
        "time": START.isoformat(),
        "data": data,
    }
