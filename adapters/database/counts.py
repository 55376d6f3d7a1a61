"""Counts that only a projection can give (implement `ports.Counts`)."""

from __future__ import annotations

from functools import cached_property

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.engine import asking
from adapters.database.facts import FreshEntities
from adapters.database.failures import Contended
from adapters.database.projecting import FOLLOWER
from domain.facts import Entity
from projections.bookings import Asked, asked_about, bookings_before, bookings_before_each, is_before

FURTHEST_BEHIND = 5_000
"""Events by which the projections may be behind for a count to be made good from the log."""


class ProjectedCounts:
    """Counts over one connection, as of the projections; the first question is put for all bookings at hand."""

    def __init__(self, connection: sa.Connection, entities: FreshEntities) -> None:
        self._connection = connection
        self._entities = entities

    def bookings_before(self, member: str, booking: Entity) -> int:
        """Return how many bookings of the member, not cancelled, start before this one."""
        about = asked_about(member, booking)
        if about not in self._counted:
            with asking(self._connection):
                self._counted[about] = bookings_before(self._connection, member, booking)
        return self._counted[about]

    @cached_property
    def _counted(self) -> dict[Asked, int]:
        prepared = self._entities.prepared()
        about = [
            asked_about(booking.get("member_id") or "", booking)
            for booking in prepared
            if booking.stream.startswith("booking/")
        ]
        with asking(self._connection):
            counts = bookings_before_each(self._connection, about)
        return {each: counts[each.booking] for each in about}


class StoredCounts:
    """Counts over one connection, brought up to the head that the entities are no older than."""

    def __init__(self, connection: sa.Connection, entities: FreshEntities) -> None:
        self._connection = connection
        self._entities = entities

    def bookings_before(self, member: str, booking: Entity) -> int:
        """Return how many bookings of the member, not cancelled, start before this one.

        Raises Unavailable where the projections are too far behind.
        """
        with asking(self._connection):
            projected = bookings_before(self._connection, member, booking, without=self._ahead)
        since = (self._entities.readable(stream) for stream in self._ahead)
        return projected + sum(is_before(each, member, booking) for each in since)

    @cached_property
    def _ahead(self) -> frozenset[str]:
        """Return the bookings about which something was recorded that the projection does not know yet."""
        reached = log_queries.tracked_position(self._connection, FOLLOWER)
        behind = self._entities.position - reached
        if behind > FURTHEST_BEHIND:
            raise Contended(f"the projections are {behind} events behind: bookings cannot be counted yet")
        if behind <= 0:
            return frozenset()
        touched = log_queries.touched_between(self._connection, reached, self._entities.position)
        return frozenset(stream for stream in touched if stream.startswith("booking/"))
