"""`/v1/members/{id}/inbox`: the messages in the app, read state, and a stream of those that come."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Path, Query, Request
from pydantic import BaseModel
from sse_starlette import EventSourceResponse, ServerSentEvent

from adapters.application import Application
from adapters.database.deliveries import mark_read
from adapters.database.engine import reading
from adapters.database.inboxes import Place, inbox_page, message_of, sent_since
from adapters.database.messages import with_texts
from adapters.database.unit_of_work import retrying, unit_of_work
from adapters.web.api.doors import App, needs
from adapters.web.api.paging import CursorParameter, Limit, Page, checked_position, page_of, place_at
from adapters.web.api.problem_schemas import problems
from adapters.web.api.problems import Problem
from adapters.web.bell import Bell
from domain.errors import Unavailable
from domain.ids import LONGEST_ID, entity

router = APIRouter(tags=["inbox"], prefix="/v1/members")

Member = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description="The member's id.")]

MANY = 200
"""Messages that a stream sends at a time."""

LATE = timedelta(minutes=1)
"""How much later than others a message may become visible that was sent before them."""

PING = 15
"""Seconds between two signs of life on a stream."""


class InboxMessage(BaseModel):
    """A message in the app; subject and text are null once they were erased."""

    message: str
    type: str
    entity: str
    at: datetime
    read_at: datetime | None
    subject: str | None
    text: str | None


class ReadAnswer(BaseModel):
    """Whether the message was unread until now."""

    was_unread: bool


@router.get("/{id:path}/inbox", dependencies=needs("read"), responses=problems(401, 403, 404, 422, 503))
def list_inbox(
    application: App,
    id: Member,
    unread: Annotated[bool, Query(description="Only what was not read yet.")] = False,
    limit: Limit = 100,
    cursor: CursorParameter = None,
) -> Page[InboxMessage]:
    """List what lies in a member's inbox, the newest first."""
    with reading(application.engine) as connection:
        rows = inbox_page(
            connection, entity("member", id), unread=unread, limit=limit + 1, beyond=_place(place_at(cursor))
        )
        messages = {each.delivery: each for each in with_texts(connection, rows)}
    shown = page_of(
        rows,
        limit,
        lambda row: _message(row, messages[row["delivery"]]),
        lambda row: [row["sent_at"].isoformat(), row["position"]],
    )
    return Page[InboxMessage](**shown)


@router.post(
    "/{id:path}/inbox/{message}/read",
    dependencies=needs("notifications:write"),
    responses=problems(401, 403, 404, 409, 422, 503),
)
def read_message(application: App, id: Member, message: str) -> ReadAnswer:
    """Note that a member has read a message."""
    with reading(application.engine) as connection:
        if message_of(connection, entity("member", id), message) is None:
            raise Problem(404, "there is no such message in this inbox")

    def attempt() -> bool:
        with unit_of_work(application.log, "read") as work:
            return mark_read(work, application.log.mapper, message, application.clock.now())

    return ReadAnswer(was_unread=retrying(attempt, sleep=time.sleep))


@router.get(
    "/{id:path}/inbox/stream",
    dependencies=needs("read"),
    response_class=EventSourceResponse,
    responses={
        **problems(401, 403, 404, 422, 503),
        200: {
            "description": "Server-sent events, each `message` with an inbox message.",
            "content": {"text/event-stream": {}},
        },
    },
)
async def stream_inbox(
    request: Request,
    application: App,
    id: Member,
    last_event_id: Annotated[str | None, Header(max_length=200)] = None,
) -> EventSourceResponse:
    """Send each message that comes from now on, or after `Last-Event-ID`, as a server-sent event."""
    stream = _Stream(application, request.app.state.bell, entity("member", id), last_event_id)
    await run_sync(stream.begin)
    return EventSourceResponse(stream.events(), ping=PING)


class _Stream:
    """What one listener is sent."""

    def __init__(self, application: Application, bell: Bell, to: str, last: str | None) -> None:
        self._application, self._bell, self._to, self._last = application, bell, to, last
        self._since = application.clock.now()
        self._sent: dict[str, datetime] = {}

    def begin(self) -> None:
        """Find the place in the inbox from which on messages are news."""
        with reading(self._application.engine) as connection:
            last = message_of(connection, self._to, self._last) if self._last else None
            if last is not None:
                self._since = last["sent_at"]
            known = sent_since(connection, self._to, self._since - LATE, MANY)
        self._sent = {row["delivery"]: row["sent_at"] for row in known if row["sent_at"] <= self._since}

    async def events(self) -> AsyncIterator[ServerSentEvent]:
        """Yield messages as they come, until the listener leaves or the process ends."""
        going_on = True
        while going_on:
            with contextlib.suppress(Unavailable):  # the database comes back, or the listener asks anew
                for message in await run_sync(self._news):
                    yield ServerSentEvent(message.model_dump_json(), id=message.message, event="message")
            going_on = await self._bell.wait()

    def _news(self) -> Sequence[InboxMessage]:
        with reading(self._application.engine) as connection:
            rows = [
                row
                for row in sent_since(connection, self._to, self._since - LATE, MANY + len(self._sent))
                if row["delivery"] not in self._sent
            ]
            messages = with_texts(connection, rows)
        self._sent |= {row["delivery"]: row["sent_at"] for row in rows}
        if rows:
            self._since = max(self._since, rows[-1]["sent_at"])
            self._sent = {name: at for name, at in self._sent.items() if at >= self._since - LATE}
        return [InboxMessage(**_message(row, each)) for row, each in zip(rows, messages, strict=True)]


def _message(row: dict[str, Any], message: Any) -> dict[str, Any]:
    return {
        "message": row["delivery"],
        "type": row["type"],
        "entity": row["entity"],
        "at": row["sent_at"],
        "read_at": row["read_at"],
        "subject": message.subject,
        "text": message.text,
    }


def _place(found: Any) -> Place | None:
    if found is None:
        return None
    try:
        at, position = found
        return Place(datetime.fromisoformat(at).astimezone(), checked_position(position))
    except (TypeError, ValueError, OverflowError):
        raise Problem(422, "this is no cursor") from None
