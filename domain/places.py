"""Where an entity belongs: its resource, its space, and the time zone that makes its days."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from domain.facts import Entity
from domain.ids import entity

Find = Callable[[str], Entity]
"""Finds the state of an entity by its stream."""


def references(of: Entity) -> tuple[str, ...]:
    """Return the streams of the entities that this one names: its member, resource, space and so on."""
    values = of.values
    return tuple([entity(kind, values[field]) for kind, field in _NAMED if values.get(field) is not None])


def space_of(of: Entity, find: Find) -> Entity | None:
    """Return the space of an entity: its own, its resource's, or its booking's."""
    own_kind = of.noun.kind
    if own_kind == "space":
        return of
    if space := of.get("space_id"):
        return find(entity("space", space))
    for kind, field in _PLACED:
        if own_kind != kind and (identifier := of.get(field)):
            return space_of(find(entity(kind, identifier)), find)
    return None


def zone_of(of: Entity, find: Find) -> str | None:
    """Return the name of an entity's time zone now, or None where its space is not known yet."""
    if of.noun.kind in ("reminder", "space") and of.get("time_zone"):
        return str(of.get("time_zone"))
    space = space_of(of, find)
    return None if space is None else space.get("time_zone")


def corrected_at(space: Entity | None) -> datetime | None:
    """Return when it was recorded that a space has another zone than before, or None if it never had another."""
    if space is None or len({name for _, name in space.zones}) < 2:
        return None
    return space.since.get("time_zone")


def zone_at(of: Entity, find: Find, time: datetime) -> str | None:
    """Return the time zone that an entity had at an instant; the earliest known one before that."""
    space = space_of(of, find)
    if space is None or not space.zones or (of.noun.kind == "reminder" and of.get("time_zone")):
        return zone_of(of, find)
    earlier = [zone for stamp, zone in space.zones if stamp.time <= time]
    return earlier[-1] if earlier else space.zones[0][1]


_NAMED = tuple((kind, f"{kind}_id") for kind in ("member", "resource", "space", "booking", "subscription", "invoice"))
_PLACED = tuple((kind, f"{kind}_id") for kind in ("resource", "booking", "subscription"))
