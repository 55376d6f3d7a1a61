"""The log as it was at a place in its past: its clock, and entities and counts no newer than one position.

States are folded on as events go by, and from the log where one is asked for that was let go of.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime

import sqlalchemy as sa

from adapters.database import log_queries
from adapters.database.engine import asking
from adapters.database.event_mapper import EventMapper
from adapters.database.facts import REMEMBERED
from adapters.database.failures import Contended
from adapters.database.projecting import FOLLOWER
from domain.errors import CorruptEvent
from domain.facts import Entity, Fact, applied, folded
from domain.ids import entity, kind_of
from domain.reminder_plans import EARLIEST
from projections.bookings import bookings_of, is_before

FURTHEST_BEHIND = 5_000
"""Events by which the projections may be behind for bookings to be counted."""


class PastClock:
    """The clock of history: each fact became known at its time, though not before what was read before its page.

    Nothing became known later than it was recorded. So history that was brought in at once has a course too.
    """

    def __init__(self) -> None:
        self.now = EARLIEST
        self._last: list[int] = []
        self._began: list[datetime] = []

    def turn(self, last: int) -> None:
        """Begin a page, which ends at this position; pages follow each other."""
        self._last.append(last)
        self._began.append(self.now)

    def move_to(self, fact: Fact, position: int) -> datetime:
        """Go on to a fact that is next in the log, and return the time; it never goes back."""
        self.now = max(self.now, self.of(fact, position))
        return self.now

    def of(self, fact: Fact, position: int) -> datetime:
        """Return when a fact became known that stands on a page that was begun."""
        return max(min(fact.time, fact.at), self._began[bisect_left(self._last, position)])

    def dated(self, fact: Fact, position: int) -> Fact:
        """Return a fact as if it had been recorded when it became known."""
        known_at = self.of(fact, position)
        return fact if known_at == fact.at else fact.model_copy(update={"at": known_at})


class PastEntities:
    """Entity states as of a position, which only moves on (implements `ports.Entities`); not shared."""

    def __init__(self, mapper: EventMapper, clock: PastClock, limit: int = REMEMBERED) -> None:
        self._mapper = mapper
        self._clock = clock
        self._limit = limit
        self._known: OrderedDict[str, Entity] = OrderedDict()
        self._corrupt: dict[str, CorruptEvent] = {}
        self._connection: sa.Connection | None = None
        self.position = 0

    def over(self, connection: sa.Connection) -> None:
        """Read over this connection from now on."""
        self._connection = connection

    def take(self, fact: Fact, position: int) -> None:
        """Move on by one fact, which stands at a position."""
        self.position = position
        known = self._known.get(fact.stream)
        if known is not None and known.version < fact.version:
            self._known[fact.stream] = applied(known, self._clock.dated(fact, position))

    def set_aside(self, error: CorruptEvent, position: int) -> None:
        """Move on by an event that cannot be read: from there on nobody knows the state of its entity."""
        self.position = position
        self._corrupt[error.stream] = error

    def get(self, stream: str) -> Entity:
        """Return the state of one entity; raises CorruptEvent where an event of its stream cannot be read."""
        if stream not in self._known:
            self.prepare([stream])
        if stream in self._corrupt:
            raise self._corrupt[stream]
        self._known.move_to_end(stream)
        return self._known[stream]

    def prepare(self, streams: Iterable[str]) -> list[Entity]:
        """Load many entities in one go, and return them as far as their events can be read."""
        asked = list(streams)
        wanted = {stream: Entity(stream) for stream in asked if stream not in self._known}
        for event in self._events(wanted):
            wanted[event.stream] = applied(wanted[event.stream], event)
        self._known |= wanted
        return [self._known[stream] for stream in asked]

    def before(self, stream: str, version: int) -> Entity:
        """Return an entity as it was before one version of its stream was recorded."""
        return folded(Entity(stream), (event for event in self._events([stream]) if event.version < version))

    def trim(self) -> None:
        """Let the longest unused go."""
        while len(self._known) > self._limit:
            self._known.popitem(last=False)

    def _events(self, streams: Iterable[str]) -> Iterable[Fact]:
        """Return the facts of streams up to the present position; what cannot be read is noted."""
        assert self._connection is not None
        found: list[Fact] = []
        with asking(self._connection):
            rows = log_queries.streams(self._connection, streams)
        for row in rows:
            if row.position > self.position:
                continue
            try:
                event = self._mapper.read(row)
            except CorruptEvent as error:
                self._corrupt[row.stream] = error
                continue
            if isinstance(event, Fact):
                found.append(self._clock.dated(event, row.position))
        return found


class PastCounts:
    """Counts as of the position of some entities (implements `ports.Counts`).

    The projection says which bookings are a member's; what each was then, its stream says.
    """

    def __init__(self, connection: sa.Connection, entities: PastEntities) -> None:
        self._connection = connection
        self._entities = entities

    def bookings_before(self, member: str, booking: Entity) -> int:
        """Return how many bookings of the member, not cancelled, started before this one as far as was known.

        Raises Unavailable where the projections are too far behind.
        """
        with asking(self._connection):
            named = {entity("booking", identifier) for identifier in bookings_of(self._connection, member)}
            named |= self._not_projected()
        self._entities.prepare(named)
        return sum(is_before(self._entities.get(stream), member, booking) for stream in named)

    def _not_projected(self) -> set[str]:
        reached = log_queries.tracked_position(self._connection, FOLLOWER)
        behind = self._entities.position - reached
        if behind > FURTHEST_BEHIND:
            raise Contended(f"the projections are {behind} events behind: semel work --until-idle brings them up")
        if behind <= 0:
            return set()
        touched = log_queries.touched_between(self._connection, reached, self._entities.position)
        return {stream for stream in touched if kind_of(stream) == "booking"}
