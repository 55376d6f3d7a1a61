"""What situations are made of, over one connection."""

from __future__ import annotations

import sqlalchemy as sa

from adapters.database.counts import StoredCounts
from adapters.database.facts import FreshEntities
from adapters.database.personal import StoredPersonalValues
from automations.ports import Counts
from automations.situation import World


def world_over(
    connection: sa.Connection, entities: FreshEntities, default_zone: str, counts: Counts | None = None
) -> World:
    """Return the world that is no older than the entities given."""
    personal = StoredPersonalValues(connection, entities.prepared)
    return World(entities, personal, counts or StoredCounts(connection, entities), default_zone)
