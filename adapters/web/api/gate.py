"""The gate that every request comes through: nobody gets past it unknown, and no error leaves it untold.

What may be asked for by anybody stands in `OPEN`; everything else needs a caller, whatever routes there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from anyio.to_thread import run_sync
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.access.callers import Caller
from adapters.web.access.doorkeeper import Doorkeeper, token_of
from adapters.web.api.problems import Problem, answer, problem_of

CALLER = "semel.caller"
"""Where the caller stands in the scope of a request."""

OPEN: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("GET", re.compile(r"/healthz|/readyz|/docs|/openapi\.json")),
    ("POST", re.compile(r"/v1/session")),
    ("POST", re.compile(r"/v1/callbacks/[^/]+")),
    ("GET", re.compile(r"/unsubscribe/[^/]+")),
    ("POST", re.compile(r"/unsubscribe/[^/]+")),
)
"""What anybody may ask for, by method and path."""

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
)
"""What every answer carries, unless its route says otherwise: nothing may be framed, kept, or run."""

FOR_PROGRAMS = tuple(each for each in HEADERS if each[0] in (b"x-content-type-options", b"cache-control"))
"""The same for what no browser shows, where each header costs more than it is worth."""

STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")

Ways = dict[str, ASGIApp]
"""What answers at some paths by itself, instead of the application."""


def is_open(method: str, path: str) -> bool:
    """Say whether anybody may ask for this."""
    asked = "GET" if method == "HEAD" else method
    return any(asked == allowed and pattern.fullmatch(path) for allowed, pattern in OPEN)


class Gate:
    """Lets known callers through to an application, and puts the headers of safety on each answer.

    `ways` are paths that are answered without the application, which takes time; they look up their callers
    themselves where the gate only remembers them.
    """

    def __init__(self, app: ASGIApp, doorkeeper: Callable[[], Doorkeeper], ways: Ways) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._ways = ways

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = FOR_PROGRAMS if scope["path"] in self._ways else HEADERS
        safely = _Safely(send, (*headers, STRICT_TRANSPORT) if scope.get("scheme") == "https" else headers)
        try:
            await self._serve(scope, receive, safely)
        except Exception as error:  # noqa: BLE001 - the last boundary: whoever asked gets an answer
            problem = problem_of(error)
            if not safely.has_begun:
                await answer(problem)(scope, receive, safely)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if not is_open(scope["method"], path):
            scope[CALLER] = await self._caller(scope)
        await self._ways.get(path, self._app)(scope, receive, send)

    async def _caller(self, scope: Scope) -> Caller:
        knock, doorkeeper = _Knock(scope), self._doorkeeper()
        if scope["path"] in self._ways and (token := token_of(knock)) is not None:
            remembered = doorkeeper.remembered(token)
            if remembered is not None:
                return remembered
        return await run_sync(doorkeeper.caller, knock)


class _Knock(HTTPConnection):
    """A request as the doorkeeper sees it."""

    @property
    def method(self) -> str:
        method: str = self.scope["method"]
        return method


class _Safely:
    """Sends an answer with the headers of safety, and knows whether it has begun."""

    def __init__(self, send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> None:
        self._send = send
        self._headers = headers
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            own: list[Any] = list(message.get("headers", ()))
            names = {name.lower() for name, _ in own}
            message = {**message, "headers": [*own, *(each for each in self._headers if each[0] not in names)]}
        await self._send(message)


def caller_in(scope: Scope) -> Caller:
    """Return who calls; only behind the gate."""
    caller = scope.get(CALLER)
    if not isinstance(caller, Caller):
        raise Problem(401, "sign in, or send a token as Authorization: Bearer …")
    return caller
