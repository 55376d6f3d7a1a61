"""What staff do about deliveries is decided and recorded, with the place of each in the queue of its channel."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.database import lanes
from adapters.database.deliveries import read_deliveries
from adapters.database.delivery_beginnings import waiting
from adapters.database.delivery_queue import queue_of
from adapters.database.event_mapper import EventMapper
from adapters.database.personal import PersonalRow, write
from adapters.database.queue import enqueue, hasten
from adapters.database.unit_of_work import UnitOfWork
from automations.notifications.delivery_acts import decided_about_delivery, refusal_of_delivery
from automations.ports import Clock
from automations.staff_acts import Acted, Order
from domain.deliveries import Delivery
from domain.delivery_acts import DeliveryRequeued
from domain.lanes import channel_lane


def act_on_deliveries(
    work: UnitOfWork, mapper: EventMapper, clock: Clock, order: Order, ids: Sequence[str]
) -> list[Acted]:
    """Act on deliveries in a transaction; say of each whether it was done, or why nothing was changed."""
    found = read_deliveries(work.connection, mapper, ids)
    acted = []
    for item in ids:
        delivery = found.get(item)
        refused = "there is no such delivery" if delivery is None else _acted(work, clock, order, delivery)
        acted.append(Acted(item, refused or ""))
    return acted


def _acted(work: UnitOfWork, clock: Clock, order: Order, delivery: Delivery) -> str | None:
    at = clock.now()
    refused = refusal_of_delivery(order, delivery, at)
    if refused:
        return refused
    reference = f"{delivery.stream}/{delivery.version + 1}/reason" if order.reason else ""
    event = decided_about_delivery(order, delivery, at, reference)
    if event is None:
        hasten(work.connection, queue_of(delivery.asked.channel, delivery.asked.lane), [delivery.id])
    else:
        if reference:
            write(work.connection, [PersonalRow(event.member, reference, order.reason)])
        work.append([event])
    if order.act == "retry":
        if isinstance(event, DeliveryRequeued):
            enqueue(work.connection, [waiting(delivery.after(event))])
        lanes.probe_now(work.connection, channel_lane(delivery.asked.channel), at)
        work.wake()
    return None
