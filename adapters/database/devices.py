"""Devices over the log: registered and withdrawn by members, and read when somebody is to be told."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from adapters.channels.wire.public_addresses import require_callable
from adapters.database import log_queries
from adapters.database.addressees import require_member
from adapters.database.engine import reading
from adapters.database.event_log import EventLog
from adapters.database.event_mapper import EventMapper
from adapters.database.personal import PersonalRow, write
from adapters.database.unit_of_work import UnitOfWork, retrying, unit_of_work
from automations.ports import Clock
from domain import devices as decide
from domain.devices import Device, DeviceRegistered, Platform, device_of, device_stream
from domain.errors import InvalidInput
from domain.events import DomainEvent
from domain.ids import entity
from projections import devices as listed

LONGEST = 4096
"""Characters of what a push service gives a device."""

Subscription = str | Mapping[str, Any]
"""What a push service gave a device: a token, or a browser's subscription with its endpoint and keys."""


class DeviceDesk:
    """Where the devices of members are registered and withdrawn; `member` is always the member's id.

    With `allow_private` a push service may lie inside a private network, and speak http.
    """

    def __init__(self, log: EventLog, clock: Clock, salt: bytes, *, allow_private: bool = False) -> None:
        self._log = log
        self._clock = clock
        self._salt = salt
        self._allow_private = allow_private

    def register(self, member: str, platform: Platform, subscription: Subscription) -> Device:
        """Register a device, and return it; the same again changes nothing.

        Pushes go to browsers; the token of a phone is kept for whoever sends to phones, and no channel here does.
        Raises InvalidInput for a subscription that is none, and for a member that does not exist.
        """
        text, place = _read(platform, subscription, allow_private=self._allow_private)
        stream = device_stream(platform, place, self._salt)

        def decision(before: Device, at: datetime) -> list[DeviceRegistered]:
            return decide.registered(before, member, platform, text, at=at, salt=self._salt)

        def keep(work: UnitOfWork, events: Sequence[DomainEvent]) -> None:
            require_member(work.connection, member)
            rows = [
                PersonalRow(member, each.subscription, text) for each in events if isinstance(each, DeviceRegistered)
            ]
            write(work.connection, rows)

        return self._change(stream, decision, keep)

    def withdraw(self, member: str, device: str, *, by: str = "") -> bool:
        """Send no more pushes to a device of a member; say whether that is new.

        Raises InvalidInput where the member never had such a device.
        """
        changed: list[DomainEvent] = []

        def decision(before: Device, at: datetime) -> Sequence[DomainEvent]:
            if before.member != member:
                raise InvalidInput(f"the member {member!r} has no device {device!r}")
            changed[:] = decide.withdrawn(before, at=at, by=by)
            return changed

        self._change(entity("device", device), decision, lambda work, events: None)
        return bool(changed)

    def of(self, member: str) -> list[Mapping[str, Any]]:
        """Return all devices of a member, the newest first, as the projections know them."""
        with reading(self._log.engine) as connection:
            return listed.of_member(connection, member)

    def _change(
        self,
        stream: str,
        decision: Callable[[Device, datetime], Sequence[DomainEvent]],
        keep: Callable[[UnitOfWork, Sequence[DomainEvent]], None],
    ) -> Device:
        def attempt() -> Device:
            with unit_of_work(self._log, "devices") as work:
                device = read_devices(work.connection, self._log.mapper, [stream]).get(stream) or Device(stream)
                events = decision(device, self._clock.now())
                keep(work, events)
                work.append(events)
            for event in events:
                device = device.after(event)
            return device

        return retrying(attempt, sleep=time.sleep)


def read_devices(connection: sa.Connection, mapper: EventMapper, streams: Iterable[str]) -> dict[str, Device]:
    """Return the devices of these streams that there are."""
    found: dict[str, list[DomainEvent]] = {}
    for row in log_queries.streams(connection, streams):
        found.setdefault(row.stream, []).append(mapper.read(row))
    return {stream: device_of(stream, events) for stream, events in found.items()}


def _read(platform: Platform, subscription: Subscription, *, allow_private: bool) -> tuple[str, str]:
    """Return the text of a subscription, and the place at the push service that it names."""
    if platform != "web":
        if not isinstance(subscription, str) or not 1 <= len(subscription) <= LONGEST:
            raise InvalidInput("the token of a phone is a text")
        return subscription, subscription
    told = subscription
    try:
        told = json.loads(told) if isinstance(told, str) and len(told) <= LONGEST else told
        assert isinstance(told, Mapping)
        keys = told["keys"]
        place = str(told["endpoint"])
        text = json.dumps(
            {"endpoint": place, "keys": {"auth": str(keys["auth"]), "p256dh": str(keys["p256dh"])}}, sort_keys=True
        )
    except (ValueError, TypeError, KeyError, AssertionError, RecursionError):
        raise InvalidInput("a browser's subscription has an endpoint and two keys, p256dh and auth") from None
    if len(text) > LONGEST:
        raise InvalidInput("this subscription is longer than any")
    try:
        require_callable(place, allow_private=allow_private)
    except InvalidInput as error:
        raise InvalidInput(f"the endpoint of a subscription {error}") from None
    return text, place
