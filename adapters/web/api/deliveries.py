"""`/v1/deliveries`: what was sent to whom, on which channel, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from adapters.database.engine import reading
from adapters.database.pages import page_by_position
from adapters.web.api.doors import App, needs
from adapters.web.api.paging import CursorParameter, Limit, Order, Page, page_of, position_at
from adapters.web.api.problem_schemas import problems
from domain.deliveries import State
from projections.deliveries import deliveries

router = APIRouter(tags=["deliveries"], prefix="/v1/deliveries")

EntityFilter = Annotated[str | None, Query(max_length=300, description="Only those about one entity: `booking/b1`.")]


class Delivery(BaseModel):
    """The journey of a notification to one address on one channel; whose address it is, never the address itself."""

    delivery: str
    notification: str
    to: str
    channel: str
    type: str
    entity: str
    status: State
    reason: str
    at: datetime
    requested_at: datetime
    expires_at: datetime
    sent_at: datetime | None
    attempts: int
    next_attempt_at: datetime | None
    provider_message_id: str
    last_error: str


@router.get("", dependencies=needs("read"), responses=problems(401, 403, 422, 503))
def list_deliveries(
    application: App,
    to: Annotated[str | None, Query(max_length=300, description="Only those to one: `member/m1` or `staff`.")] = None,
    entity: EntityFilter = None,
    channel: Annotated[str | None, Query(max_length=100, description="Only those on one channel.")] = None,
    notification: Annotated[str | None, Query(max_length=200, description="Only those of one notification.")] = None,
    status: Annotated[list[State] | None, Query(description="Only those that stand so; may be repeated.")] = None,
    order: Order = "newest",
    limit: Limit = 100,
    cursor: CursorParameter = None,
) -> Page[Delivery]:
    """List deliveries, in the order in which they began."""
    wanted = {"to": to, "entity": entity, "channel": channel, "notification": notification}
    with reading(application.engine) as connection:
        rows = page_by_position(
            connection,
            deliveries,
            {**wanted, "status": list(status) if status else None},
            limit=limit + 1,
            beyond=position_at(cursor),
            newest_first=order == "newest",
        )
    return Page[Delivery](**page_of(rows, limit, delivery_object, lambda row: row["position"]))


def delivery_object(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a delivery as programs get it, from its row."""
    return {name: row[name] for name in Delivery.model_fields}
