"""Notifications: a request to tell somebody something, written down once for each producer's key.

What becomes of a request, its deliveries, is a later story: it goes on in the same stream.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.commands import RequestNotification
from domain.decisions import id_made_of
from domain.endings import Refused
from domain.events import Cause, DomainEvent
from domain.ids import entity, id_of, kind_of
from domain.places import Find

EXECUTIONS = "semel/executions"
"""The producer of what rules and staff ask for; others name themselves."""

STAFF = "staff"
"""The recipient that stands for whoever runs the space."""

_TYPE = re.compile(r"[a-z0-9._-]{1,100}")


class DeliveryRequested(DomainEvent):
    """Somebody is to be told: the first event of a notification, and the promise that it is not forgotten.

    `to` is `member/m1` or `staff`. `payload` is the reference under which the values for its templates lie,
    among the personal values of `member`: whom they are about, who need not be the recipient. It is empty
    where there are none. `channels` are those that were asked for; where none were, the type says which. It was
    requested at the instant of the event, for the execution that is its cause. `fingerprint` is a salted hash of
    the request of another producer, which tells its repeats also when the payload was erased.
    """

    TOPIC = "delivery.requested"

    producer: str
    idempotency_key: str
    type: str
    to: str
    entity: str = ""
    member: str = ""
    payload: str = ""
    channels: tuple[str, ...] = ()
    fingerprint: str = ""

    @property
    def notification(self) -> str:
        """Return the id of the notification."""
        return id_of(self.stream)


class NotificationExpanded(DomainEvent):
    """A notification has become so many deliveries, each with a stream of its own."""

    TOPIC = "notification.expanded"

    deliveries: int


@dataclass(frozen=True, slots=True)
class Requested:
    """A new request, and the payload that goes to the personal values."""

    event: DeliveryRequested
    payload: Mapping[str, Any]


def notification_of(producer: str, idempotency_key: str) -> str:
    """Return the stream of the one notification that a producer's key stands for."""
    return entity("notification", id_made_of("notification", producer, idempotency_key))


def is_type_name(text: str) -> bool:
    """Say whether a text can name a notification type: `ready.access-instructions`."""
    return _TYPE.fullmatch(text) is not None


def is_recipient(text: str) -> bool:
    """Say whether a text names somebody to tell: `staff`, or a member such as `member/m1`."""
    return text == STAFF or (kind_of(text) == "member" and bool(id_of(text)))


def request(
    command: RequestNotification,
    find: Find,
    *,
    idempotency_key: str,
    at: datetime,
    cause: Cause | None,
    producer: str = EXECUTIONS,
    fingerprint: str = "",
) -> Requested | Refused:
    """Decide on a request that was not made before."""
    refused = _refusal_of(command, find)
    if refused:
        return refused
    stream = notification_of(producer, idempotency_key)
    event = DeliveryRequested(
        stream=stream,
        version=1,
        at=at,
        cause=cause,
        producer=producer,
        idempotency_key=idempotency_key,
        type=command.type,
        to=command.to,
        entity=command.entity,
        member=_whose(command),
        payload=f"{stream}/1/payload" if command.payload else "",
        channels=command.channels,
        fingerprint=fingerprint,
    )
    return Requested(event, command.payload)


def is_repeat(known: DeliveryRequested, payload: object | None, command: RequestNotification) -> bool:
    """Say whether a command asks for the same again; `payload` is that of the first, None once erased."""
    erased = bool(known.payload) and payload is None
    same_payload = erased or (payload or {}) == command.payload
    asked = (command.type, command.to, command.entity, _whose(command), command.channels)
    return same_payload and asked == (known.type, known.to, known.entity, known.member, known.channels)


def _whose(command: RequestNotification) -> str:
    return command.member_id or (id_of(command.to) if command.to != STAFF else "")


def _refusal_of(command: RequestNotification, find: Find) -> Refused | None:
    if not is_type_name(command.type):
        return Refused(reason="the type is not a name of a-z, 0-9, dots, dashes, underscores", at_fault="rule")
    if not is_recipient(command.to):
        return Refused(reason="the recipient is neither staff nor a member like member/m1", at_fault="rule")
    if command.to != STAFF and find(command.to).get("erased"):
        return Refused(reason=f"{command.to} has been erased")
    return None
