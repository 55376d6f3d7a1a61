"""Calls of HTTP services: pooled connections, an end to every wait, no redirects, and how far each call came."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import httpx

from adapters.channels.replies.http import Answer
from adapters.channels.wire.http_lines import Post
from adapters.channels.wire.public_addresses import addresses_of
from automations.notifications.channels import CallEnding
from domain.endings import Refused, TryLater, Unknown
from domain.errors import InvalidInput

LONGEST_ANSWER = 64 * 1024
"""Bytes of an answer that are read; more is of no interest to anybody."""

_SENT = "http11.send_request_body.complete"
_PLAIN = {"accept-encoding": "identity", "user-agent": "semel"}
_NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout)
_ANY_OTHER = ""
_MOST_HOSTS = 32


@dataclass(slots=True)
class _Progress:
    """How far a call has come: what was sent may have been done, and what was answered counts."""

    sent: bool = False
    answer: Answer | None = None

    async def note(self, event: str, info: Mapping[str, Any]) -> None:
        self.sent = self.sent or event == _SENT

    def ended(self, reason: str) -> Answer | CallEnding:
        if self.answer is not None:
            return self.answer
        return Unknown(reason=reason) if self.sent else TryLater(reason=reason)


@dataclass(slots=True)
class HttpCaller:
    """Posts on behalf of one channel; used inside the background loop.

    Every call ends within `seconds`, however slowly the other side speaks. With `checks_addresses` a URL comes from
    somebody else: its host is looked up here, and the very address that was checked is called.
    """

    seconds: float
    checks_addresses: bool = False
    allow_private: bool = False
    connections: int = 8
    _clients: dict[str, httpx.AsyncClient] = field(default_factory=dict)

    async def post(self, post: Post) -> Answer | CallEnding:
        """Return the answer to a request, or how the call ends where there was none."""
        progress = _Progress()
        try:
            url = httpx.URL(post.url)
            client = self._client(url.host)
            async with asyncio.timeout(self.seconds):
                await self._posted(client, url, post, progress)
        except InvalidInput as error:
            return Refused(reason=f"the URL {error}", error_class="forbidden_url")
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
            return Refused(reason="the URL is none that can be called", error_class="forbidden_url")
        except TimeoutError:
            return progress.ended("no answer came in time")
        except (httpx.HTTPError, OSError) as error:
            return progress.ended(f"the call broke off: {type(error).__name__}")
        return progress.ended("there was no answer")

    async def close(self) -> None:
        """Let go of all connections."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    async def _posted(self, client: httpx.AsyncClient, url: httpx.URL, post: Post, progress: _Progress) -> None:
        request = client.build_request(post.method, url, content=post.content, headers={**_PLAIN, **post.headers})
        request.extensions["trace"] = progress.note
        if not self.checks_addresses:
            return await _exchanged(client, request, post, progress)
        request.extensions["sni_hostname"] = url.raw_host.decode("ascii")
        port = url.port or (443 if url.scheme == "https" else 80)
        *others, last = await addresses_of(url.host, port, allow_private=self.allow_private)
        for address in others:
            request.url = url.copy_with(host=address)
            try:
                return await _exchanged(client, request, post, progress)
            except _NOT_CONNECTED:
                continue
        request.url = url.copy_with(host=last)
        return await _exchanged(client, request, post, progress)

    def _client(self, host: str) -> httpx.AsyncClient:
        """Return the client of a host: idle connections to one address are not shared between names."""
        name = host if host in self._clients or len(self._clients) < _MOST_HOSTS else _ANY_OTHER
        if name not in self._clients:
            kept = 0 if name == _ANY_OTHER else self.connections
            limits = httpx.Limits(max_connections=self.connections, max_keepalive_connections=kept)
            self._clients[name] = httpx.AsyncClient(
                verify=_authorities(),
                limits=limits,
                timeout=self.seconds,
                follow_redirects=False,
                trust_env=False,
            )
        return self._clients[name]


@lru_cache(maxsize=1)
def _authorities() -> ssl.SSLContext:
    """Return whom services are believed by; read once, for it takes long."""
    return ssl.create_default_context()


async def _exchanged(client: httpx.AsyncClient, request: httpx.Request, post: Post, progress: _Progress) -> None:
    """Send a request and read its answer; an answer whose body breaks off is one without a body."""
    response = await client.send(request, auth=post.auth, stream=True)
    try:
        headers = {name.lower(): value for name, value in response.headers.items()}
        progress.answer = Answer(response.status_code, headers)
        body = b""
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > LONGEST_ANSWER:
                return
        progress.answer = Answer(response.status_code, headers, body)
    finally:
        await response.aclose()
