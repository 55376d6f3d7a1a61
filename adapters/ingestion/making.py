"""One fact is made from one incoming event and the state that its entity was in before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from adapters.database.personal import PersonalRow
from adapters.ingestion.incoming import Incoming
from domain.civil_time import local_date, wall_of, zone
from domain.events import Cause
from domain.facts import Entity, Fact, PersonalRef, applied
from domain.ids import entity
from domain.nouns import NOUN_OF_TYPE
from domain.places import Find, zone_at

WALLED = ("starts_at", "ends_at")
"""Fields whose wall time is recorded beside the instant, so that a corrected zone can move what is to come."""


@dataclass(frozen=True, slots=True)
class Made:
    """A fact, the entity after it, and the personal values that it refers to."""

    fact: Fact
    entity: Entity
    personal: tuple[PersonalRow, ...]


@dataclass(frozen=True, slots=True)
class FactMaker:
    """Makes facts at one instant of recording, with the states that `find` knows."""

    find: Find
    read_personal: Callable[[PersonalRef], object | None]
    default_zone: str
    at: datetime

    def make(self, incoming: Incoming, implied: Mapping[str, Any], cause: Cause | None) -> Made:
        """Return the next fact of the entity that this event names; `implied` are further values it sets."""
        noun = NOUN_OF_TYPE[incoming.type]
        before = self.find(noun.entity(incoming.data))
        data = noun.types[incoming.type].completed({**incoming.data, **implied}, incoming.time.isoformat())
        personal_names = noun.fields_of(incoming.type).PERSONAL
        named = noun.fields_of(incoming.type).model_fields
        private = {name: value for name, value in data.items() if name in personal_names and value is not None}
        private |= {f"extra.{name}": value for name, value in data.items() if name not in named}
        open_data = {name: value for name, value in data.items() if name in named and name not in private}
        member = _member(before, data)
        zone_name = zone_at(replace(before, values={**before.values, **open_data}), self.find, incoming.time)
        refs = _references(f"{before.stream}/{before.version + 1}", private, named)
        fact = Fact(
            stream=before.stream,
            version=before.version + 1,
            at=self.at,
            cause=cause,
            type=incoming.type,
            source=incoming.source,
            id=incoming.id,
            time=incoming.time,
            sequence=incoming.sequence,
            event_date=local_date(incoming.time, zone(zone_name or self.default_zone)),
            data=open_data,
            member=member,
            personal=refs,
            walls=_walls(open_data, zone_name),
        )
        after = applied(before, fact)
        rows = tuple(PersonalRow(member, refs[name], value) for name, value in private.items())
        fact = fact.model_copy(update={"changed": self._changed(before, after, private)})
        return Made(fact, after, () if rows and self._erased(member, incoming.time) else rows)

    def _erased(self, member: str, time: datetime) -> bool:
        """Say whether a member was erased at a later time than an event's: then its values are dropped."""
        stamp = self.find(entity("member", member)).stamps.get("erased")
        return stamp is not None and time <= stamp.time

    def _changed(self, before: Entity, after: Entity, private: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the fields whose value is another than before; personal ones by what they refer to."""
        return tuple(
            name
            for name, value in after.values.items()
            if value is not before.get(name) and self._read(before.get(name)) != private.get(name, value)
        )

    def _read(self, value: Any) -> Any:
        return self.read_personal(value) if isinstance(value, PersonalRef) else value


def _member(before: Entity, data: Mapping[str, Any]) -> str:
    return str(data.get("member_id") or before.get("member_id") or "")


def _walls(data: Mapping[str, Any], zone_name: str | None) -> dict[str, str]:
    if zone_name is None:
        return {}
    return {
        name: wall_of(datetime.fromisoformat(data[name]).astimezone(UTC), zone(zone_name)).isoformat()
        for name in WALLED
        if isinstance(data.get(name), str) and len(data[name]) > len("2026-05-12")
    }


def _references(place: str, private: Collection[str], named: Container[str]) -> dict[str, str]:
    """Return where each personal value is to lie; what no noun lists may have any name, so it is numbered."""
    numbered = (f"{place}/{name if name in named else number}" for number, name in enumerate(private, 1))
    return dict(zip(private, numbered, strict=True))
