"""Asks an application over HTTP without any network, from any thread, as fast as a function call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.types import ASGIApp, Message

ADDRESS = "http://semel.test"


class Client:
    """One client with its cookies; serves any thread."""

    def __init__(self, app: ASGIApp, portal: BlockingPortal) -> None:
        self._app = app
        self._portal = portal
        transport = httpx.ASGITransport(app, raise_app_exceptions=True, client=("203.0.113.9", 4711))
        self._client = httpx.AsyncClient(transport=transport, base_url=ADDRESS)

    def another(self) -> Client:
        """Return a client without any cookies of this one."""
        return Client(self._app, self._portal)

    @property
    def cookies(self) -> httpx.Cookies:
        """Return the cookies that it has."""
        return self._client.cookies

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Return the answer to a request."""

        async def ask() -> httpx.Response:
            return await self._client.request(method, path, **more)

        return self._portal.call(ask)

    def get(self, path: str, **more: Any) -> httpx.Response:
        """Return the answer to a GET."""
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx.Response:
        """Return the answer to a POST."""
        return self.request("POST", path, **more)


@contextmanager
def wired(app: ASGIApp) -> Iterator[Client]:
    """Hold a client of an application that has been started, and is stopped afterwards."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_Life(app)):
        yield Client(app, portal)


class _Life:
    """The life of an application: it is started, and asked to end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._asked: asyncio.Queue[Message]
        self._answers: asyncio.Queue[Message]
        self._task: asyncio.Task[None]

    async def __aenter__(self) -> None:
        self._asked, self._answers = asyncio.Queue(), asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        running: Any = self._app(scope, self._asked.get, self._answers.put)
        self._task = asyncio.create_task(running)
        await self._ask("startup")

    async def __aexit__(self, *_: object) -> None:
        await self._ask("shutdown")
        await self._task

    async def _ask(self, what: str) -> None:
        await self._asked.put({"type": f"lifespan.{what}"})
        answer = await self._answers.get()
        assert answer["type"] == f"lifespan.{what}.complete", answer
