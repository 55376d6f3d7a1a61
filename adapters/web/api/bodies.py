"""What comes in is bounded before anybody reads it: bytes, bytes once unpacked, and how deep JSON is nested."""

from __future__ import annotations

import asyncio
import re
import zlib
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.web.api.problems import Problem, answer

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
LONGEST_SECONDS = 60.0
"""How long a body may take to come; who sends more slowly only keeps a place."""

_METHODS_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of a body, packed and unpacked, and levels of nested lists and objects."""

    bytes: int
    depth: int


class BoundedBodies:
    """Hands on requests whose bodies are within limits, unpacked; refuses all others without reading on."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] in _METHODS_WITHOUT_BODY:
            await self._app(scope, receive, send)
            return
        try:
            body = await self._body(scope, receive)
        except Problem as problem:
            await answer(problem)(scope, receive, send)
            return
        if body is None:
            return
        await self._app(_unpacked(scope, len(body)), _replay(body, receive), send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """Return the whole body, or None where the client went away."""
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > self._limits.bytes:
            raise self._too_large()
        packed = headers.get(b"content-encoding", b"identity").strip().lower()
        if packed not in (b"identity", b"gzip", b""):
            raise Problem(
                415, "a body may be packed with gzip, and with nothing else", headers={"accept-encoding": "gzip"}
            )
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                body = await self._received(receive)
        except TimeoutError:
            raise Problem(408, "the body did not come in time", headers={"connection": "close"}) from None
        if body is None:
            return None
        if packed == b"gzip":
            body = self._gunzipped(body)
        if is_too_deep(body, self._limits.depth):
            raise Problem(400, f"lists and objects are nested deeper than {self._limits.depth} levels")
        return body

    async def _received(self, receive: Receive) -> bytes | None:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        first: bytes = message.get("body", b"")
        if not message.get("more_body"):
            return self._within(first)
        parts, size = [first], len(first)
        while message.get("more_body"):
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limits.bytes:
                raise self._too_large()
        return b"".join(parts)

    def _within(self, body: bytes) -> bytes:
        if len(body) > self._limits.bytes:
            raise self._too_large()
        return body

    def _gunzipped(self, body: bytes) -> bytes:
        unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        try:
            unpacked = unpacker.decompress(body, self._limits.bytes + 1)
        except zlib.error:
            raise Problem(400, "the body is not what gzip packs") from None
        if len(unpacked) > self._limits.bytes:
            raise self._too_large()
        if not unpacker.eof or unpacker.unused_data:
            raise Problem(400, "the packed body breaks off, or something follows it")
        return unpacked

    def _too_large(self) -> Problem:
        told = f"a body has at most {self._limits.bytes:,} bytes, packed or not: send less at a time"
        return Problem(413, told, headers={"connection": "close"})


def is_too_deep(body: bytes, depth: int) -> bool:
    """Say whether JSON is nested deeper than so many levels; brackets inside of texts do not count."""
    if body.count(b"[") + body.count(b"{") <= depth:
        return False
    level = 0
    for match in _TOKEN.finditer(body):
        token = match.group()
        if token in (b"[", b"{"):
            level += 1
            if level > depth:
                return True
        elif token in (b"]", b"}"):
            level -= 1
    return False


def _unpacked(scope: Scope, length: int) -> Scope:
    kept = [(name, value) for name, value in scope["headers"] if name not in (b"content-encoding", b"content-length")]
    return {**scope, "headers": [*kept, (b"content-length", b"%d" % length)]}


def _replay(body: bytes, receive: Receive) -> Receive:
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
