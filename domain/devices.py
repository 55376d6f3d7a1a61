"""Devices: the browsers and phones of members that push notifications reach, each known by a salted hash.

What a push service gave a device lies among the member's personal values. A device that is registered anew is the
same device with another registration; a push service that does not know one any more ends that registration alone.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from domain.events import DomainEvent
from domain.ids import entity, id_of

Platform = Literal["web", "android", "ios"]
"""Where a device gets its pushes from; browsers have a subscription, phones a token, which no channel here sends to."""

CHANNEL = "web_push"
"""The channel that goes to devices."""

_HEX = 32
"""Hexadecimal characters of a hash: 128 bits, which never meet by chance."""


class DeviceRegistered(DomainEvent):
    """A member gets pushes on a device from now on, and nobody else does.

    `subscription` is the reference of what the push service gave it, among the personal values of `member`;
    `fingerprint` is a salted hash of that.
    """

    TOPIC = "device.registered"

    member: str
    platform: Platform
    subscription: str
    fingerprint: str


class DeviceWithdrawn(DomainEvent):
    """A device is to get no more pushes; `by` says who wanted that."""

    TOPIC = "device.withdrawn"

    by: str = ""


class DeviceInvalidated(DomainEvent):
    """A push service does not know a registration any more, as it said about a delivery."""

    TOPIC = "device.invalidated"

    delivery: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Device:
    """The state of a device; `registration` is the version at which it was registered last, 0 for never."""

    stream: str
    version: int = 0
    registration: int = 0
    member: str = ""
    platform: Platform = "web"
    subscription: str = ""
    fingerprint: str = ""
    registered_at: datetime | None = None
    withdrawn_at: datetime | None = None
    invalidated_at: datetime | None = None

    @property
    def id(self) -> str:
        """Return the id of the device."""
        return id_of(self.stream)

    @property
    def is_reachable(self) -> bool:
        """Say whether pushes go to it."""
        return self.registration > 0 and self.withdrawn_at is None and self.invalidated_at is None

    def after(self, event: DomainEvent) -> Device:
        """Return the state after one more event."""
        match event:
            case DeviceRegistered():
                return Device(
                    self.stream,
                    event.version,
                    event.version,
                    event.member,
                    event.platform,
                    event.subscription,
                    event.fingerprint,
                    event.at,
                )
            case DeviceWithdrawn():
                return replace(self, version=event.version, withdrawn_at=event.at)
            case DeviceInvalidated():
                return replace(self, version=event.version, invalidated_at=event.at)
        raise TypeError(f"{event.topic} is no event about devices")


def device_stream(platform: Platform, place: str, salt: bytes) -> str:
    """Return the stream of a device by its place at the push service: a token, or the endpoint of a subscription."""
    return entity("device", _hashed(f"{platform}\0{place}", salt))


def device_of(stream: str, events: Iterable[DomainEvent]) -> Device:
    """Return what the events of a device fold to."""
    device = Device(stream)
    for event in events:
        device = device.after(event)
    return device


def registered(
    before: Device, member: str, platform: Platform, subscription: str, *, at: datetime, salt: bytes
) -> list[DeviceRegistered]:
    """Decide on a registration; none follows where the same one stands already."""
    fingerprint = _hashed(subscription, salt)
    if before.is_reachable and (before.member, before.fingerprint) == (member, fingerprint):
        return []
    version = before.version + 1
    return [
        DeviceRegistered(
            stream=before.stream,
            version=version,
            at=at,
            member=member,
            platform=platform,
            subscription=f"{before.stream}/{version}/subscription",
            fingerprint=fingerprint,
        )
    ]


def withdrawn(before: Device, *, at: datetime, by: str = "") -> list[DeviceWithdrawn]:
    """Decide to send no more pushes to a device; none follows where none are sent."""
    if not before.is_reachable:
        return []
    return [DeviceWithdrawn(stream=before.stream, version=before.version + 1, at=at, by=by)]


def invalidated(
    before: Device, *, registration: int, delivery: str, at: datetime, reason: str = ""
) -> list[DeviceInvalidated]:
    """Decide on what a push service said about one registration; none follows where there is a newer one."""
    if not before.is_reachable or before.registration != registration:
        return []
    version = before.version + 1
    return [DeviceInvalidated(stream=before.stream, version=version, at=at, delivery=delivery, reason=reason)]


def _hashed(text: str, salt: bytes) -> str:
    return hmac.new(salt, text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:_HEX]
