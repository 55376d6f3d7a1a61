"""A request becomes deliveries: one for each person and channel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from automations.notifications.types import Types
from domain.deliveries import DeliveryPending, delivery_stream
from domain.ids import entity
from domain.notifications import STAFF, DeliveryRequested


def expanded(request: DeliveryRequested, types: Types, staff: Sequence[str], at: datetime) -> list[DeliveryPending]:
    """Return the deliveries of a request, whose ids depend on nothing but it, as they begin at an instant.

    `staff` are the ids of the members who work there. Where nobody does, what they are to be told stays to be
    seen under `staff`.
    """
    recipients = [entity("member", each) for each in staff] or [STAFF] if request.to == STAFF else [request.to]
    return [delivery for to in recipients for delivery in _to(to, request, types, at)]


def _to(to: str, request: DeliveryRequested, types: Types, at: datetime) -> Iterator[DeliveryPending]:
    kind = types.of(request.type, to_staff=request.to == STAFF)
    for channel in dict.fromkeys(request.channels or kind.channels):
        yield DeliveryPending(
            stream=delivery_stream(request.notification, channel, to),
            version=1,
            at=at,
            cause=request.cause,
            notification=request.notification,
            producer=request.producer,
            type=request.type,
            to=to,
            channel=channel,
            address=to,
            entity=request.entity,
            about=request.member,
            payload=request.payload,
            lane=kind.lane,
            urgent=kind.urgency == "urgent",
            mandatory=kind.mandatory,
            repeats=kind.on_unknown == "repeat",
            requested_at=request.at,
            expires_at=request.at + kind.useful_for,
        )
