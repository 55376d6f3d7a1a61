"""A request becomes deliveries: one for each person and channel, each as far as it goes without a call."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from automations.notifications.decisions import Spread, steps_of
from automations.notifications.policy import Case, View, decided
from automations.notifications.types import Types
from domain.deliveries import WAITING, Delivery, DeliveryPending, DeliveryStep, delivery_stream
from domain.devices import CHANNEL as PUSH
from domain.errors import Unavailable
from domain.ids import entity, id_of
from domain.notifications import STAFF, DeliveryRequested

logger = structlog.get_logger(__name__)


def expanded(
    request: DeliveryRequested,
    types: Types,
    staff: Sequence[str],
    at: datetime,
    devices: Mapping[str, Sequence[str]] = {},
) -> list[DeliveryPending]:
    """Return the deliveries of a request, whose ids depend on nothing but it, as they begin at an instant.

    `staff` are the ids of the members who work there. Where nobody does, what they are to be told stays to be
    seen under `staff`. `devices` are those that pushes to members go to, by the member's id.
    """
    recipients = recipients_of(request, staff)
    return [
        delivery
        for to in recipients
        for first in _to(to, request, types, at)
        for delivery in _for_each_device(first, tuple(devices.get(id_of(to), ())))
    ]


def recipients_of(request: DeliveryRequested, staff: Sequence[str]) -> list[str]:
    """Return who is told: each member who works there, where staff is."""
    if request.to != STAFF:
        return [request.to]
    return [entity("member", each) for each in staff] or [STAFF]


def pushes(request: DeliveryRequested, types: Types) -> bool:
    """Say whether a request may go to devices."""
    ways = types.of(request.type, to_staff=request.to == STAFF).ways
    return PUSH in request.channels or (not request.channels and any(PUSH in way for way in ways))


def _for_each_device(first: DeliveryPending, devices: tuple[str, ...]) -> Iterator[DeliveryPending]:
    """Yield a delivery for each device, where it goes to devices and there are any."""
    known = first.model_copy(update={"devices": devices}) if devices else first
    if first.channel != PUSH or not devices:
        yield known
        return
    for device in devices:
        address = entity("device", device)
        stream = delivery_stream(first.notification, first.channel, address)
        yield known.model_copy(update={"stream": stream, "address": address})


def _to(to: str, request: DeliveryRequested, types: Types, at: datetime) -> Iterator[DeliveryPending]:
    kind = types.of(request.type, to_staff=request.to == STAFF)
    asked_for = tuple((channel,) for channel in dict.fromkeys(request.channels))
    for channel, *then in asked_for or kind.ways:
        yield DeliveryPending(
            stream=delivery_stream(request.notification, channel, to),
            version=1,
            at=at,
            cause=request.cause,
            notification=request.notification,
            producer=request.producer,
            type=request.type,
            to=to,
            to_staff=request.to == STAFF,
            channel=channel,
            address=to,
            entity=request.entity,
            about=request.member,
            payload=request.payload,
            lane=kind.lane,
            urgent=kind.urgency == "urgent",
            mandatory=kind.mandatory,
            repeats=kind.on_unknown == "repeat",
            opt_in=kind.opt_in,
            then=tuple(then),
            requested_at=request.at,
            expires_at=request.at + kind.useful_for,
            useful_until=kind.useful_until or "",
        )


@dataclass(frozen=True, slots=True)
class Begun:
    """A delivery as its first check leaves it, the steps of that, and what was looked at, if it could be."""

    delivery: Delivery
    steps: Sequence[DeliveryStep] = ()
    case: Case | None = None

    @property
    def goes_on(self) -> bool:
        """Say whether it is to be sent, now or later."""
        return self.delivery.state in WAITING


def begun(asked: Iterable[DeliveryPending], view: View, at: datetime, spread: Spread) -> Iterator[Begun]:
    """Yield the deliveries of a request as the first check leaves them, and those on the channels that follow.

    What cannot be checked stays pending, so that whoever is about to send it finds out why.
    """
    begins, known = deque(asked), dict[str, Delivery]()
    while begins:
        checked = _checked(begins.popleft(), view, at, spread)
        known[checked.delivery.stream] = checked.delivery
        yield checked
        begins.extend(followed_by(checked.delivery, at, known))


def _checked(asked: DeliveryPending, view: View, at: datetime, spread: Spread) -> Begun:
    delivery = Delivery(id_of(asked.stream), asked.version, asked, asked.at)
    try:
        case = view.case(delivery, at)
        if case.expires_at != asked.expires_at:
            delivery = replace(delivery, asked=asked.model_copy(update={"expires_at": case.expires_at}))
        decision = decided(case)
    except Unavailable:
        raise
    except Exception:
        logger.exception("delivery.unchecked", delivery=delivery.id)
        return Begun(delivery)
    steps = steps_of(decision, delivery, at, spread) if decision is not None else []
    for step in steps:
        delivery = delivery.after(step)
    return Begun(delivery, steps, case)


def followed_by(delivery: Delivery, at: datetime, known: Mapping[str, Delivery]) -> list[DeliveryPending]:
    """Return the deliveries on the next channel of a first-of list, where this one could not be made.

    A channel that goes to several devices has failed once it has failed for each: `known` holds, by stream, the
    deliveries to the others.
    """
    asked = delivery.asked
    if not _is_lost(delivery) or not asked.then:
        return []
    others = [known.get(stream) for stream in beside(delivery)]
    if not all(other is not None and _is_lost(other) for other in others):
        return []
    channel, *then = asked.then
    stream = delivery_stream(asked.notification, channel, asked.to)
    changes = {"stream": stream, "channel": channel, "address": asked.to, "then": tuple(then), "at": at}
    following = asked.model_copy(update={**changes, "locale": "", "template": ""})
    return list(_for_each_device(following, asked.devices))


def beside(delivery: Delivery) -> list[str]:
    """Return the streams of the deliveries to the other devices of the recipient."""
    asked = delivery.asked
    if asked.channel != PUSH or asked.address == asked.to:
        return []
    addresses = [entity("device", each) for each in asked.devices]
    return [delivery_stream(asked.notification, PUSH, each) for each in addresses if each != asked.address]


def _is_lost(delivery: Delivery) -> bool:
    return delivery.state == "failed" or (delivery.state == "skipped" and delivery.unreachable)
