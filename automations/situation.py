"""What one candidate's conditions and templates see: every fact about its entity and what that names.

A path is a root and a field: `booking.attendees`, `member.company`, `event.before.status`. Instants come in
the zone of the entity's space, so that their date and clock time are the ones that people there see.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from automations.derived_facts import DERIVED, Derive
from automations.ports import Counts, Entities, PersonalValues
from domain.booking_times import SPANNING, instant_of_booking
from domain.civil_time import zone
from domain.facts import Entity, Fact, PersonalRef
from domain.ids import entity as entity_text
from domain.ids import kind_of
from domain.moment_ranges import Window
from domain.moments import OF_STATES, Moment, moments_of, reminder_moments
from domain.places import corrected_at, references, space_of, zone_of


class Situation:
    """The facts about one entity at one instant, and about the event that made it a candidate, if one did."""

    def __init__(
        self,
        root: Entity,
        *,
        entities: Entities,
        personal: PersonalValues,
        counts: Counts,
        at: datetime,
        default_zone: str,
        event: Fact | None = None,
    ) -> None:
        self.root = root
        self.at = at
        self.event = event
        self.counts = counts
        self._entities = entities
        self.reads: set[str] = {root.stream}
        self._personal = personal
        self._default_zone = default_zone
        self._roots: dict[str, Entity | None] = {kind_of(root.stream): root}
        self._before: Entity | None = None
        self._told: dict[str, Any] | None = None
        self._known: dict[str, object | None] = {}

    @cached_property
    def zone(self) -> ZoneInfo:
        """Return the time zone of the entity's space, or the operator's default where that is not known."""
        return zone(zone_of(self.root, self._get) or self._default_zone)

    @cached_property
    def _corrected_at(self) -> datetime | None:
        return corrected_at(space_of(self.root, self._get))

    def value(self, path: str) -> object | None:
        """Return the value of a fact, or None where it is missing."""
        found = self._found(path)
        return self._personal.read(found) if isinstance(found, PersonalRef) else found

    def reference(self, path: str) -> str | None:
        """Return where a personal value lies, or None where the value is not personal."""
        found = self._found(path)
        return found.ref if isinstance(found, PersonalRef) else None

    def entity(self, root: str) -> Entity | None:
        """Return the entity that a root such as `member` stands for, or None where none is named."""
        if root not in self._roots:
            self._roots[root] = self._find(root)
        return self._roots[root]

    def before(self) -> Entity | None:
        """Return the entity as it was when the event was recorded."""
        if self._before is None and self.event is not None:
            self._before = self._entities.before(self.event.stream, self.event.version)
        return self._before

    def _found(self, path: str) -> object | None:
        """Return a fact's value, or the reference of a personal one; each is looked up once."""
        known = self._known
        if path not in known:
            found = self._looked_up(path)
            known[path] = found.astimezone(self.zone) if isinstance(found, datetime) else found
        return known[path]

    def _looked_up(self, path: str) -> object | None:
        root, name, derive = _split(path)
        if root in _OF_NO_ENTITY:
            return self._of_candidate(root, name)
        entity = self.entity(root)
        if entity is None:
            return None
        return derive(self, entity) if derive is not None else self.value_of(entity, name)

    def _of_candidate(self, root: str, name: str) -> object | None:
        if root == "entity":
            return self.root.stream
        return self._of_event(name) if root == "event" else self._told_by_event(name)

    def named(self, stream: str) -> Entity:
        """Return any entity by its stream, as one that is named by the facts of this one."""
        return self._get(stream)

    def _get(self, stream: str) -> Entity:
        self.reads.add(stream)
        return self._entities.get(stream)

    def _find(self, root: str) -> Entity | None:
        if root == "space":
            return space_of(self.root, self._get)
        identifier = self.root.get(f"{root}_id")
        return self._get(entity_text(root, identifier)) if identifier else None

    def value_of(self, entity: Entity, name: str) -> object | None:
        """Return a field of an entity as it is for people at its space."""
        if name in SPANNING and entity.noun.kind == "booking":
            return instant_of_booking(entity, name, self.zone, self._corrected_at)
        return _field(entity, name)

    def _told_by_event(self, name: str) -> object | None:
        if self._told is None:
            self._told = self.event.values() if self.event is not None else {}
        return self._told.get(name)

    def _of_event(self, name: str) -> object | None:
        event = self.event
        if event is None:
            return None
        if name.startswith("before."):
            before = self.before()
            return None if before is None else _field(before, name.removeprefix("before."))
        if name in _OF_EVENT:
            return event.event_date if name == "date" else getattr(event, name)
        return self._told_by_event(name)


def _field(entity: Entity, name: str) -> object | None:
    """Return a field, or the part of one: `quiet_hours.start`."""
    if name in entity.values or "." not in name:
        value: object | None = entity.get(name)
        # What nobody has said yes to is no, as long as there is anything to say it about.
        return False if value is None and entity.known and name in entity.noun.fields.FLAGS else value
    whole, _, part = name.partition(".")
    return getattr(entity.get(whole), part, None)


@lru_cache(maxsize=4096)
def _split(path: str) -> tuple[str, str, Derive | None]:
    """Return the root and the field of a path, and what computes the field if it is not told."""
    root, _, name = path.partition(".")
    return root, name, DERIVED.get((root, name))


_OF_NO_ENTITY = frozenset({"entity", "event", "payment"})

_OF_EVENT = frozenset({"id", "type", "source", "time", "date", "changed"})


@dataclass(frozen=True, slots=True)
class World:
    """Everything that situations are made of, no older than one head of the log."""

    entities: Entities
    personal: PersonalValues
    counts: Counts
    default_zone: str

    def situation(self, stream: str, at: datetime, event: Fact | None = None) -> Situation:
        """Return what conditions see about one entity at an instant."""
        return Situation(
            self.entities.get(stream),
            entities=self.entities,
            personal=self.personal,
            counts=self.counts,
            at=at,
            default_zone=self.default_zone,
            event=event,
        )

    def moments(self, stream: str, window: Window, triggers: Collection[str] = OF_STATES) -> list[Moment]:
        """Return the moments of an entity for these triggers; of a reminder those that lie in the window."""
        entity = self.entities.get(stream)
        if entity.noun.kind == "reminder":
            dues = reminder_moments(entity, self.entities.get, self.default_zone, window.after, window.up_to)
            return list(dues)
        return moments_of(entity, self.entities.get, self.default_zone, triggers)

    def prepare(self, streams: Iterable[str]) -> None:
        """Load entities and all that they name, in as few steps as the names lie deep."""
        seen: set[str] = set()
        wanted = set(streams)
        while wanted:
            found = self.entities.prepare(wanted)
            seen |= wanted
            wanted = {named for entity in found for named in references(entity)} - seen
