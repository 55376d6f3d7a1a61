"""Where a delivery stands after one of its events: among the failures of a cause, waiting for it, or settled."""

from __future__ import annotations

from collections.abc import Mapping

from domain.delivery_acts import DeliveryRequeued, DeliverySettled
from domain.delivery_events import DeliveryFailed, DeliveryRetrying, DeliveryStep, State
from domain.dossiers import FailureCause, cause_of_delivery, cause_of_lane
from domain.events import DomainEvent
from domain.lanes import channel_lane
from projections.standings import SETTLED, Place, Standing

_FAILING: frozenset[State] = frozenset({"failed", "unknown", "bounced", "retrying"})
_ENDS: Mapping[State, Standing] = {
    "sent": "done",
    "delivered": "done",
    "skipped": "no_longer_needed",
    "expired": "no_longer_needed",
    "cancelled": "no_longer_needed",
}


def is_failing_delivery(event: DomainEvent) -> bool:
    """Say whether an event may put a delivery among the failures, or make it wait; what was not called is neither."""
    if isinstance(event, DeliveryRetrying) and event.ending is None:
        return False
    return isinstance(event, DeliveryStep) and event.STATE in _FAILING


def moved_delivery(
    before: Place | None, event: DomainEvent, channel: str, held: Mapping[str, FailureCause]
) -> Place | None:
    """Return where a delivery on a channel stands after one more event, None where the event changes nothing.

    `held` says for which cause a channel is held: whatever waits for that channel waits for it.
    """
    if isinstance(event, DeliveryStep) and is_failing_delivery(event):
        return _failing(event, channel, held)
    if before is None or before.standing in SETTLED:
        return None
    match event:
        case DeliverySettled():
            told = "told by hand" if event.how == "by_hand" else "dismissed"
            return Place(before.cause, event.how, before.status, f"{told} by {event.by}")
        case DeliveryRequeued():
            return Place(before.cause, before.standing, "pending", before.reason)
        case DeliveryStep():
            standing = _ENDS.get(event.STATE, before.standing)
            return Place(before.cause, standing, event.STATE, event.reason or before.reason)
    return None


def _failing(event: DeliveryStep, channel: str, held: Mapping[str, FailureCause]) -> Place:
    if isinstance(event, DeliveryRetrying):
        lane = channel_lane(channel)
        kind = event.ending.kind if event.ending is not None else "try_later"
        return Place(held.get(lane) or cause_of_lane(lane, kind), "waiting", event.STATE, event.reason)
    failure = event.error_class if isinstance(event, DeliveryFailed) else event.STATE
    return Place(cause_of_delivery(channel, failure), "open", event.STATE, event.reason)
