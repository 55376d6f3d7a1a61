"""What is decided about a delivery before a call, and the events that record it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from domain.civil_time import wall_of
from domain.deliveries import (
    Delivery,
    DeliveryCancelled,
    DeliveryExpired,
    DeliveryHeld,
    DeliveryReleased,
    DeliverySkipped,
    DeliveryStep,
)
from domain.ids import digest
from domain.spaces import QuietHours
from domain.time_texts import format_wall

Spread = Callable[[Delivery], timedelta]
"""How long after the end of quiet hours a delivery goes on."""

LONGEST_SPREAD = timedelta(minutes=5)
"""Within this time everything of bulk that waited for the same end goes on."""


@dataclass(frozen=True, slots=True)
class Halt:
    """The state in which a delivery ends without a call, and why.

    It is `unreachable` where nothing could be sent this way, whoever wants it.
    """

    state: Literal["cancelled", "skipped", "expired"]
    reason: str
    unreachable: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """Quiet hours in which a delivery has to wait: until when, and which they are.

    `expires_at` is the instant from which on the delivery is of no use; it is later.
    """

    quiet_until: datetime
    hours: QuietHours
    hours_of: Literal["recipient", "space"]
    zone: ZoneInfo
    zone_of: Literal["recipient", "space", "operator"]
    expires_at: datetime

    @property
    def reason(self) -> str:
        """Return why it waits, in words."""
        told = format_wall(wall_of(self.quiet_until, self.zone))
        return f"quiet hours until {told} ({self.hours.start} to {self.hours.end}, {self.zone.key})"


def without_spread(delivery: Delivery) -> timedelta:
    """Let everything go on at once."""
    return timedelta()


def spread_by_id(delivery: Delivery) -> timedelta:
    """Return a time of up to five minutes for what is bulk, the same each time that it is asked for."""
    if delivery.asked.lane != "bulk":
        return timedelta()
    part = int(digest(delivery.id)[:8], 16) / 0xFFFF_FFFF
    return timedelta(seconds=round(LONGEST_SPREAD.total_seconds() * part))


def steps_of(decision: Halt | Hold, delivery: Delivery, at: datetime, spread: Spread) -> list[DeliveryStep]:
    """Return the events of a decision; what is held already, and has to wait once more, is released before."""
    if isinstance(decision, Halt):
        more = {"unreachable": decision.unreachable} if decision.state == "skipped" else {}
        return [_step(_ENDS[decision.state], delivery, at, reason=decision.reason, **more)]
    released = released_steps(delivery, at)
    held = _step(
        DeliveryHeld,
        delivery,
        at,
        len(released),
        reason=decision.reason,
        until=_until(decision, spread(delivery)),
        quiet_until=decision.quiet_until,
        hours=decision.hours,
        hours_of=decision.hours_of,
        zone=decision.zone.key,
        zone_of=decision.zone_of,
    )
    return [*released, held]


def released_steps(delivery: Delivery, at: datetime) -> list[DeliveryStep]:
    """Return the event that releases a held delivery; none follows for any other."""
    return [_step(DeliveryReleased, delivery, at)] if delivery.state == "held" else []


def _until(hold: Hold, spread: timedelta) -> datetime:
    later = hold.quiet_until + spread
    return later if later < hold.expires_at else hold.quiet_until


def _step(kind: type[DeliveryStep], delivery: Delivery, at: datetime, offset: int = 0, **values: Any) -> DeliveryStep:
    version, cause = delivery.version + 1 + offset, delivery.asked.cause
    return kind(stream=delivery.stream, version=version, at=at, cause=cause, **values)


_ENDS: Mapping[str, type[DeliveryStep]] = {
    "cancelled": DeliveryCancelled,
    "skipped": DeliverySkipped,
    "expired": DeliveryExpired,
}
