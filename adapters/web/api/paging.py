"""Lists come in pages. A cursor says where a page ended; what it says is nobody's business but ours."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Query
from pydantic import BaseModel

from adapters.web.api.problems import Problem
from domain.errors import Mistake

T = TypeVar("T")
R = TypeVar("R")

MOST = 500
"""Things on one page."""

Limit = Annotated[int, Query(ge=1, le=MOST, description="How many on one page.")]
CursorParameter = Annotated[str | None, Query(max_length=500, description="`next` of the page before.")]
Order = Annotated[Literal["newest", "oldest"], Query(description="Which come first.")]


class Page(BaseModel, Generic[T]):
    """One page; `next` leads to the following one, and is null at the end."""

    items: list[T]
    next: str | None = None


def page_of(rows: Sequence[R], limit: int, shown: Callable[[R], Any], place: Callable[[R], object]) -> dict[str, Any]:
    """Return a page of rows, of which one more than `limit` was read to know whether there is another page."""
    kept = rows[:limit]
    more = cursor_at(place(kept[-1])) if len(rows) > limit and kept else None
    return {"items": [shown(row) for row in kept], "next": more}


def cursor_at(place: object) -> str:
    """Return the cursor for a place, which is JSON."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def position_at(cursor: str | None) -> int | None:
    """Return the position that a cursor stands for; raises Problem for what is no cursor of ours."""
    place = place_at(cursor)
    return None if place is None else checked_position(place)


def checked_position(place: object) -> int:
    """Return a position that stands in a cursor; raises Problem for what is none of the log's."""
    if not isinstance(place, int) or isinstance(place, bool) or not 0 <= place < 2**62:
        raise _no_cursor()
    return place


def place_at(cursor: str | None) -> Any:
    """Return what a cursor stands for."""
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
        return json.loads(text)
    except (binascii.Error, ValueError, RecursionError):
        raise _no_cursor() from None


def _no_cursor() -> Problem:
    return Problem(422, "this is no cursor", [Mistake(("query", "cursor"), "is not what an earlier page gave as next")])
