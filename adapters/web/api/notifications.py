"""`/v1/notifications`: somebody is to be told something, once for each key of a producer."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from adapters.database import log_queries
from adapters.database.engine import reading
from adapters.database.pages import page_by_position
from adapters.web.api.deliveries import Delivery, delivery_object
from adapters.web.api.doors import App, By, needs
from adapters.web.api.intake import INTAKE
from adapters.web.api.problem_schemas import problems
from adapters.web.api.problems import Problem
from domain.ids import entity
from domain.notifications import DeliveryRequested
from projections.deliveries import deliveries

router = APIRouter(tags=["notifications"], prefix="/v1/notifications")

MOST = 1_000
"""Deliveries of one notification that are shown."""

EXAMPLE: dict[str, Any] = {
    "idempotency_key": "invoice-17-paid",
    "recipient": "member/m1",
    "type": "payment-received",
    "payload": {"amount": "18.50 EUR"},
}


class NotificationForm(BaseModel):
    """Who is to be told what; without `channels` the type says on which."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": EXAMPLE})

    idempotency_key: Annotated[str, Field(min_length=1, max_length=255)]
    recipient: Annotated[str, Field(max_length=300, description="`member/m1` or `staff`.")]
    type: Annotated[str, Field(max_length=100)]
    payload: dict[str, Any] | None = None
    entity: str | None = None
    channels: list[str] | None = None


class Requested(BaseModel):
    """The notification stands in the log, now or since before."""

    status: Literal["accepted", "replayed"]
    notification: str


class NotificationPage(BaseModel):
    """A notification and its deliveries, which are there once it was expanded."""

    notification: str
    idempotency_key: str
    type: str
    to: str
    entity: str
    requested_at: datetime
    deliveries: list[Delivery]


@router.post(
    "",
    status_code=202,
    dependencies=needs("notifications:write"),
    responses={
        **problems(400, 401, 403, 409, 413, 422, 503),
        200: {"model": Requested, "description": "The same was asked for before."},
    },
)
def request_notification(application: App, caller: By, form: NotificationForm, response: Response) -> Requested:
    """Ask for somebody to be told. 202 new, 200 the same again, 422 another request under a key used before."""
    outcome = application.notification_door().request(caller.by, form.model_dump(exclude_unset=True))
    INTAKE.labels("notification", outcome.status).inc()
    match outcome.status:
        case "accepted" | "replayed":
            response.status_code = 202 if outcome.status == "accepted" else 200
            return Requested(status=outcome.status, notification=outcome.id)
        case _:
            raise Problem(422, "this request cannot be taken as it is", outcome.mistakes)


@router.get("/{notification}", dependencies=needs("read"), responses=problems(401, 403, 404, 422, 503))
def show_notification(application: App, notification: str) -> NotificationPage:
    """Show a notification and what became of each of its deliveries."""
    with reading(application.engine) as connection:
        rows = log_queries.streams(connection, [entity("notification", notification)])
        asked = application.log.mapper.read(rows[0]) if rows else None
        found = page_by_position(connection, deliveries, {"notification": notification}, limit=MOST, newest_first=False)
    if not isinstance(asked, DeliveryRequested):
        raise Problem(404, "there is no notification with this id")
    return NotificationPage(
        notification=notification,
        idempotency_key=asked.idempotency_key,
        type=asked.type,
        to=asked.to,
        entity=asked.entity,
        requested_at=asked.at,
        deliveries=[Delivery.model_validate(delivery_object(row)) for row in found],
    )
