"""Whom anything can be for: members as they stand at the head of the log, one or page by page."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.event_mapper import EventMapper
from adapters.database.facts import EntityCache
from domain.errors import InvalidInput
from domain.facts import Entity
from domain.ids import entity, id_of
from domain.text_values import shown

PAGE = 1_000
"""Members that are read together."""


def require_member(connection: sa.Connection, member: str) -> None:
    """Refuse what is wanted for a member whom nobody has told of."""
    if not log_queries.existing_streams(connection, [entity("member", member)]):
        raise InvalidInput(f"there is no member {shown(member)}")


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
