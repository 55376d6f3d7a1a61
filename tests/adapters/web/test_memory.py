"""The ingest route takes any bytes at all, answers each time, and keeps nothing of them.

`SEMEL_FULL=1` sends a million requests.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
from collections import Counter
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from adapters.application import Application
from adapters.settings import read_settings
from adapters.web.api.building import build
from adapters.web.reception import Reception
from tests.adapters.cli.samples import booking
from tests.adapters.web.site import event

REQUESTS = 1_000_000 if os.environ.get("SEMEL_FULL") else 6_000
AT_ONCE = 32
MOST_GROWTH = 30
"""Megabytes between the first third and the end."""

GOOD = [json.dumps(one).encode() for one in [*map(booking, range(200)), *map(event, range(200))]]
KINDS = (
    b"application/json",
    b"application/cloudevents+json",
    b"application/cloudevents-batch+json",
    b"text/plain",
    b"",
)


def spoilt(chance: random.Random) -> bytes:
    """Return the body of an event, more or less."""
    body = bytearray(chance.choice(GOOD))
    match chance.randrange(6):
        case 0:
            return bytes(body)
        case 1:
            return bytes(body[: chance.randrange(len(body))])
        case 2:
            return chance.randbytes(chance.randrange(2_000))
        case 3:
            return b"[" + b",".join(chance.choices(GOOD, k=3)) + b"]"
        case 4:
            return b"[" * chance.randrange(200) + bytes(body)
        case _:
            for _ in range(chance.randrange(1, 8)):
                body[chance.randrange(len(body))] = chance.randrange(256)
            return bytes(body)


async def ask(app: ASGIApp, headers: list[tuple[bytes, bytes]], body: bytes) -> int:
    """Return the status that a body is answered with."""
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/v1/events", "scheme": "http"}
    statuses: list[int] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app({**scope, "headers": headers}, receive, send)
    [status] = statuses
    return status


async def bombard(app: ASGIApp, token: str, number: int, chance: random.Random) -> Counter[int]:
    """Return how often each status was answered."""
    found: Counter[int] = Counter()
    known = (b"authorization", b"Bearer " + token.encode())
    for _ in range(number // AT_ONCE):
        kinds = (chance.choice(KINDS) for _ in range(AT_ONCE))
        headers = ([known, (b"content-type", kind)] for kind in kinds)
        found.update(await asyncio.gather(*(ask(app, each, spoilt(chance)) for each in headers)))
    return found


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.slow
def test_whatever_is_sent_is_answered_and_forgotten(sqlite_url: str) -> None:
    application = Application(read_settings(database_url=sqlite_url))
    application.install()
    token = Reception(application).tokens.create("fuzz", ["events:write"], "tests").text
    app, chance = build(application), random.Random(7)

    async def play() -> tuple[Counter[int], float]:
        first = await bombard(app, token, REQUESTS // 3, chance)
        before = megabytes()
        return first + await bombard(app, token, REQUESTS * 2 // 3, chance), megabytes() - before

    statuses, growth = asyncio.run(play())
    application.close()
    print(f"{statuses.total():,} requests: {dict(statuses)}, {growth:.0f} MB more at the end")
    assert statuses.keys() <= {202, 207, 400, 409, 413, 415, 422}
    assert {202, 207, 400, 409, 415, 422} <= statuses.keys()
    assert growth < MOST_GROWTH
