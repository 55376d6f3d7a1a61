"""`POST /v1/events`, as lean as it can be: most of the traffic comes here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anyio.to_thread import run_sync
from pydantic_core import to_json
from starlette.types import Message, Receive, Scope, Send

from adapters.ingestion.batches import Answer
from adapters.web.api import problems
from adapters.web.api.cloud_event_requests import Sent, read_request
from adapters.web.api.committing import Committer
from adapters.web.api.gate import caller_in
from adapters.web.api.problems import Problem, cut

PATH = "/v1/events"

LONG = 20_000
"""Bytes of a body that is read aside, so that others need not wait for it."""

_JSON = (b"content-type", b"application/json")


class Ingest:
    """Answers at `/v1/events`."""

    def __init__(self, committer: Callable[[], Committer], largest_batch: int) -> None:
        self._committer = committer
        self._largest_batch = largest_batch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Record the events of one request, and answer after the commit."""
        if scope["method"] != "POST":
            raise Problem(405, "events are posted here", headers={"allow": "POST"})
        caller = caller_in(scope)
        caller.require("events:write")
        message = await receive()
        if message["type"] != "http.request":
            return
        sent = await self._read(scope, message)
        answers = await self._committer().record(sent.items, caller)
        if sent.is_batch:
            await _send_batch(send, answers)
        else:
            await _send_one(send, answers[0])

    async def _read(self, scope: Scope, message: Message) -> Sent:
        body = message.get("body", b"")
        if len(body) <= LONG:
            return read_request(scope["headers"], body, self._largest_batch)
        return await run_sync(read_request, scope["headers"], body, self._largest_batch)


async def _send_one(send: Send, found: Answer) -> None:
    """Answer for a single event: 202, or the problem that it is."""
    if not found.is_good:
        status = 409 if found.status == "conflict" else 422
        raise Problem(status, _detail(found), found.mistakes, None, **_named(found))
    await _send(send, 202, {"status": found.status, **_named(found)})


async def _send_batch(send: Send, answers: Sequence[Answer]) -> None:
    """Answer for each event of a batch: 202 where all of them stand in the log, else 207."""
    items = [_item(index, found) for index, found in enumerate(answers)]
    await _send(send, 202 if all(found.is_good for found in answers) else 207, {"items": items})


def _item(index: int, found: Answer) -> dict[str, Any]:
    told = {"index": index, "status": found.status, **_named(found)}
    if found.is_good:
        return told
    status = 409 if found.status == "conflict" else 422
    return {**told, "problem": problems.document(status, _detail(found), found.mistakes)}


def _named(found: Answer) -> dict[str, str]:
    return {"source": cut(found.source), "id": cut(found.id), "event_type": cut(found.type)}


def _detail(found: Answer) -> str:
    if found.status == "conflict":
        return "another event was recorded under this source and id before; it stays as it is"
    return "this event cannot be recorded as it is"


async def _send(send: Send, status: int, told: dict[str, Any]) -> None:
    content = to_json(told)
    headers = [_JSON, (b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
