"""Whom a campaign can address: members as they stand at the head of the log, page by page."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_mapper import EventMapper
from adapters.database.facts import EntityCache
from domain.facts import Entity
from domain.ids import id_of

PAGE = 1_000
"""Members that are read together."""


def members_with(connection: sa.Connection, mapper: EventMapper, tag: str | None = None) -> Iterator[str]:
    """Yield the ids of all members, or of those with a tag, in their order; nobody who was erased is among them."""
    after = ""
    while streams := log_queries.streams_of_kind(connection, "member", after, PAGE):
        entities = EntityCache(mapper).at_head(connection)
        entities.prepare(streams)
        yield from (id_of(stream) for stream in streams if _is_meant(entities.get(stream), tag))
        after = streams[-1]


def _is_meant(member: Entity, tag: str | None) -> bool:
    if member.get("erased"):
        return False
    return tag is None or tag in (member.get("tags") or ())
