"""The folded states of entities, kept in memory and never older than the log's head when refreshed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.engine import asking
from adapters.database.event_mapper import EventMapper
from domain.errors import CorruptEvent
from domain.facts import Entity, Fact, applied, folded

REMEMBERED = 8_000
"""Entities kept in memory, some five kilobytes each; the longest unused go first."""


Place = tuple[str, int]
"""A version of a stream."""

NOTHING_READ: Mapping[Place, Fact] = {}


class EntityCache:
    """Entity states folded from their streams, good up to one position of the log.

    One cache serves one loop; it is not shared between threads.
    """

    def __init__(self, mapper: EventMapper, limit: int = REMEMBERED) -> None:
        self._mapper = mapper
        self._limit = limit
        self._known: OrderedDict[str, Entity] = OrderedDict()
        self._stale: set[str] = set()
        self.corrupt: dict[str, CorruptEvent] = {}
        self.position = 0

    def at_head(self, connection: sa.Connection) -> FreshEntities:
        """Return a view in which no state is older than the log's head at this moment."""
        head = log_queries.head_position(connection)
        if self._known and head > self.position:
            newest = log_queries.newest_versions(connection, self.position, head)
            self._stale |= {
                stream
                for stream, version in newest.items()
                if stream in self._known and self._known[stream].version < version
            }
        self.position = head
        return FreshEntities(self, connection)

    def put(self, entity: Entity) -> None:
        """Remember a state that was folded elsewhere, from events that are committed."""
        self._known[entity.stream] = entity
        self._known.move_to_end(entity.stream)
        self._stale.discard(entity.stream)

    def put_all(self, entities: Iterable[Entity]) -> None:
        """Remember many such states."""
        for entity in entities:
            self.put(entity)

    def forget(self) -> None:
        """Drop everything, after a transaction whose outcome is not known."""
        self._known.clear()
        self._stale.clear()

    def look_up(self, stream: str) -> Entity | None:
        """Return the state if it is known and fresh."""
        entity = self._known.get(stream)
        if entity is None or stream in self._stale:
            return None
        self._known.move_to_end(stream)
        return entity

    def load(
        self, connection: sa.Connection, streams: Iterable[str], read: Mapping[Place, Fact] = NOTHING_READ
    ) -> None:
        """Fold what is missing or stale from the log; `read` are events of theirs that need no reading."""
        wanted = {stream: self._known.get(stream) or Entity(stream) for stream in streams}
        if not wanted:
            return
        known_versions = {stream: entity.version for stream, entity in wanted.items()}
        with asking(connection):
            rows = log_queries.streams(connection, wanted, known_versions)
        for row in rows:
            try:
                event = read.get((row.stream, row.version)) or self._mapper.read(row)
            except CorruptEvent as error:
                self.corrupt[row.stream] = error
                wanted[row.stream] = replace(wanted[row.stream], version=row.version)
                continue
            if isinstance(event, Fact):
                wanted[event.stream] = applied(wanted[event.stream], event)
        for entity in wanted.values():
            self.put(entity)

    def before(self, connection: sa.Connection, stream: str, version: int) -> Entity:
        """Return an entity as it was before one version of its stream was recorded."""
        with asking(connection):
            rows = log_queries.streams(connection, [stream])
        earlier = (self._mapper.read(row) for row in rows if row.version < version)
        return folded(Entity(stream), (event for event in earlier if isinstance(event, Fact)))

    def trim(self) -> None:
        """Let the longest unused go; called between batches, when nobody holds a view."""
        while len(self._known) > self._limit:
            stream, _ = self._known.popitem(last=False)
            self._stale.discard(stream)


class FreshEntities:
    """Entity states over one connection; remembers which streams were read (implements `ports.Entities`)."""

    def __init__(self, cache: EntityCache, connection: sa.Connection) -> None:
        self._cache = cache
        self._connection = connection
        self._prepared: dict[str, None] = {}
        self.position = cache.position
        """The head of the log that these states are no older than."""
        self.reads: set[str] = set()

    def get(self, stream: str) -> Entity:
        """Return the state of one entity; an unknown one has version 0.

        Raises CorruptEvent where an event of its stream cannot be read: nobody knows its state then.
        """
        self.reads.add(stream)
        entity = self._cache.look_up(stream) or self._found(stream)
        if self._cache.corrupt and stream in self._cache.corrupt:
            raise self._cache.corrupt[stream]
        return entity

    def _found(self, stream: str) -> Entity:
        entity = self._cache.look_up(stream)
        if entity is None:
            self._cache.load(self._connection, [stream])
            entity = self._cache.look_up(stream) or Entity(stream)
        return entity

    def readable(self, stream: str) -> Entity:
        """Return the state of one entity as far as its events can be read."""
        return self._found(stream)

    def prepare(self, streams: Iterable[str]) -> list[Entity]:
        """Load many entities in one go, and return them as far as their events can be read."""
        wanted = dict.fromkeys(streams)
        self._prepare(wanted, NOTHING_READ)
        return list(map(self._found, wanted))

    def prepare_for(self, facts: Sequence[Fact]) -> None:
        """Load the entities that some facts are about."""
        read = {(fact.stream, fact.version): fact for fact in facts}
        self._prepare(dict.fromkeys(fact.stream for fact in facts), read)

    def _prepare(self, wanted: dict[str, None], read: Mapping[Place, Fact]) -> None:
        self._prepared |= wanted
        missing = [stream for stream in wanted if self._cache.look_up(stream) is None]
        self._cache.load(self._connection, missing, read)

    def prepared(self) -> Iterator[Entity]:
        """Return the entities that were loaded together, as far as their events can be read."""
        return map(self._found, self._prepared)

    def before(self, stream: str, version: int) -> Entity:
        """Return an entity as it was before one version of its stream was recorded."""
        self.reads.add(stream)
        return self._cache.before(self._connection, stream, version)
