"""Facts: what an operator's software says has happened, and the state they fold to.

A fact may arrive late, twice, out of order or without its beginning. So an entity's state is one register
for each field, in which the fact with the later stamp wins; the order of arrival decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from domain import (
    access,
    bookings,
    fees,
    invoices,
    members,
    reminders,
    renewals,
    spaces,
    subscriptions,
    tasks,
)
from domain.civil_time import Instant
from domain.events import DomainEvent, register_topic
from domain.nouns import NOUN_OF_TYPE, NOUNS, Noun

CATALOGUE = (spaces, members, bookings, invoices, fees, subscriptions, reminders, access, tasks, renewals)
"""The modules that define the nouns; importing this one makes the whole catalogue known."""


class Stamp(NamedTuple):
    """What orders two facts about one field: time, then sequence, source and id as text (semantics 8)."""

    time: datetime
    sequence: str
    source: str
    id: str


class Told(NamedTuple):
    """A value that a field was once given: when it began to hold, at which version, and when it was recorded."""

    stamp: Stamp
    version: int
    at: datetime
    value: Any


class Part(NamedTuple):
    """A part of an entity, such as a payment of an invoice, by the latest fact about it.

    `values` holds its fields and its `type`; version and instant are those of the fact's recording.
    """

    stamp: Stamp
    values: Mapping[str, Any]
    version: int
    at: datetime


@dataclass(frozen=True, slots=True)
class PersonalRef:
    """Where the personal value of a field lies: never in the log, but under this reference of a member."""

    member: str
    ref: str


class Fact(DomainEvent):
    """One event from outside, or from a service of ours, as it was recorded.

    `data` holds the fields that it carried or implied, in JSON form, without personal values: `personal`
    maps a field to its reference under `member`. `changed` names the fields whose value became another by
    it; `walls` keeps the wall time of each instant in its space's zone, where the zone was known.
    `event_date` is the space's local date on which it happened.
    """

    type: str
    source: str
    id: str
    time: Instant
    sequence: str = ""
    event_date: date
    data: dict[str, Any]
    member: str = ""
    personal: dict[str, str] = {}
    changed: tuple[str, ...] = ()
    walls: dict[str, str] = {}

    @property
    def topic(self) -> str:
        """Return the event type, which is what a fact is stored under."""
        return self.type

    @property
    def stamp(self) -> Stamp:
        """Return what orders this fact among all facts about the same entity."""
        return Stamp(self.time, self.sequence, self.source, self.id)

    @property
    def noun(self) -> Noun:
        """Return the noun whose state this fact changes."""
        return NOUN_OF_TYPE[self.type]

    def values(self) -> dict[str, Any]:
        """Return the typed value of each field that this fact sets, personal ones as `PersonalRef`."""
        values = self.noun.typed(self.type, self.data)
        for name, ref in self.personal.items():
            values[name] = PersonalRef(self.member, ref)
        return values


for _type in NOUN_OF_TYPE:
    register_topic(_type, Fact)


def _nothing() -> Mapping[str, Any]:
    return _NOTHING


_NOTHING: Mapping[str, Any] = MappingProxyType({})
"""What an unknown entity has of everything: one for all, since most are asked for only to be filled."""


@dataclass(frozen=True, slots=True)
class Entity:
    """The state of one entity: a value and a stamp for each field that was ever heard of.

    A field set to null counts as missing. `walls` holds the wall times recorded with instants, `zones` the
    history of a space's time zone, `parts` the payments of an invoice by their id, and `since` the instant
    of recording from which on a field has had its present value. `history` has all that was ever told about
    the fields that the noun remembers, in the order of stamps.
    """

    stream: str
    version: int = 0
    values: Mapping[str, Any] = field(default_factory=_nothing)
    stamps: Mapping[str, Stamp] = field(default_factory=_nothing)
    walls: Mapping[str, datetime] = field(default_factory=_nothing)
    zones: tuple[tuple[Stamp, str], ...] = ()
    parts: Mapping[str, Part] = field(default_factory=_nothing)
    since: Mapping[str, datetime] = field(default_factory=_nothing)
    history: Mapping[str, tuple[Told, ...]] = field(default_factory=_nothing)

    @property
    def known(self) -> bool:
        """Say whether any fact about this entity was recorded."""
        return self.version > 0

    @property
    def noun(self) -> Noun:
        """Return what kind of entity this is."""
        return NOUNS[self.stream.partition("/")[0]]

    def get(self, name: str) -> Any:
        """Return the value of a field, or None where it is missing."""
        return self.values.get(name)

    def part_values(self) -> Iterator[Mapping[str, Any]]:
        """Return the fields of each part, such as every payment of an invoice."""
        return (part.values for part in self.parts.values())


def folded(entity: Entity, facts: Iterable[Fact]) -> Entity:
    """Return the entity after these facts, in whatever order they come."""
    for fact in facts:
        entity = applied(entity, fact)
    return entity


def applied(entity: Entity, fact: Fact) -> Entity:
    """Return the entity after one more fact, which stands at the next version of its stream."""
    part = fact.noun.types[fact.type].part
    if part:
        return _with_part(entity, fact, part)
    stamp, told = fact.stamp, fact.values()
    if not entity.stamps:
        return _begun(entity, fact, stamp, told)
    news = {name: value for name, value in told.items() if name not in entity.stamps or entity.stamps[name] < stamp}
    changed = [name for name, value in news.items() if value != entity.values.get(name)]
    return Entity(  # every event goes through here, and `replace` takes thrice the time
        entity.stream,
        fact.version,
        {**entity.values, **news},
        {**entity.stamps, **dict.fromkeys(news, stamp)},
        _walls(entity, fact, news),
        _zones(entity, fact),
        entity.parts,
        {**entity.since, **dict.fromkeys(changed, fact.at)},
        _history(entity, fact, told),
    )


def _begun(entity: Entity, fact: Fact, stamp: Stamp, told: dict[str, Any]) -> Entity:
    """Return the entity after the first fact about it: there is nothing yet that could be newer, or the same."""
    return Entity(
        entity.stream,
        fact.version,
        told,
        dict.fromkeys(told, stamp),
        _walls(entity, fact, told),
        _zones(entity, fact),
        entity.parts,
        dict.fromkeys([name for name, value in told.items() if value is not None], fact.at),
        _history(entity, fact, told),
    )


def _with_part(entity: Entity, fact: Fact, part: str) -> Entity:
    values = {**fact.values(), "type": fact.type}
    identifier = values.get(f"{part}_id") or f"{fact.source} {fact.id}"
    known = entity.parts.get(identifier)
    if known is not None and known.stamp >= fact.stamp:
        return replace(entity, version=fact.version)
    parts = {**entity.parts, identifier: Part(fact.stamp, values, fact.version, fact.at)}
    return replace(entity, version=fact.version, parts=parts)


def _walls(entity: Entity, fact: Fact, news: Mapping[str, Any]) -> Mapping[str, datetime]:
    if not fact.walls and not any(name in entity.walls for name in news):
        return entity.walls
    kept = {name: wall for name, wall in entity.walls.items() if name not in news}
    fresh = {name: datetime.fromisoformat(wall) for name, wall in fact.walls.items() if name in news}
    return kept | fresh


def _zones(entity: Entity, fact: Fact) -> tuple[tuple[Stamp, str], ...]:
    zone = fact.data.get("time_zone")
    if zone is None or fact.noun.kind != "space":
        return entity.zones
    return tuple(sorted({*entity.zones, (fact.stamp, zone)}))


def _history(entity: Entity, fact: Fact, told: Mapping[str, Any]) -> Mapping[str, tuple[Told, ...]]:
    remembered = fact.noun.remembers & told.keys()
    if not remembered:
        return entity.history
    more = {name: Told(fact.stamp, fact.version, fact.at, told[name]) for name in remembered}
    grown = {name: tuple(sorted((*entity.history.get(name, ()), new), key=itemgetter(0))) for name, new in more.items()}
    return {**entity.history, **grown}
