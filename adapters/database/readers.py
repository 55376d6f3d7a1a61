"""All projections, in the order in which one follower keeps them."""

from __future__ import annotations

from projections.bookings import BookingsProjection
from projections.deliveries import DeliveriesProjection
from projections.delivery_measures import DeliveryMeasuresProjection
from projections.devices import DevicesProjection
from projections.dossiers import DossiersProjection
from projections.executions import ExecutionsProjection
from projections.members import MembersProjection
from projections.moments import MomentsProjection
from projections.preferences import PreferencesProjection
from projections.projection import Projection
from projections.suppressions import SuppressionsProjection


def projections(default_zone: str) -> list[Projection]:
    """Return every projection, in the order in which they take a batch over."""
    return [
        MomentsProjection(default_zone),
        BookingsProjection(),
        ExecutionsProjection(),
        DeliveriesProjection(),
        DeliveryMeasuresProjection(),
        DevicesProjection(),
        DossiersProjection(),
        MembersProjection(),
        PreferencesProjection(),
        SuppressionsProjection(),
    ]
