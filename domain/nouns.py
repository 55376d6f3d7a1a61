"""What facts are about: a noun with its fields and the types of its facts.

A noun has one model of fields, all optional, since a fact carries only what it tells; each type of fact
says which of them it needs. The nouns themselves stand in the files named after them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from domain.fields import Fields
from domain.ids import entity


@dataclass(frozen=True, slots=True)
class FactType:
    """One type of fact: which fields it must carry, and what it says by merely having happened.

    `sets` are values that the type implies (`booking.cancelled` sets the status), `defaults` those that it
    means where it is silent, `sets_time` a field that takes the fact's own time, and `part` a part of the
    entity that the fact is about, such as a payment of an invoice, with `fields` of its own. Where these have
    no `<part>_id`, each such fact is a part by itself, such as a snooze of a reminder.
    """

    needs: tuple[str, ...] = ()
    sets: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    sets_time: str | None = None
    part: str | None = None
    fields: type[Fields] | None = None

    def completed(self, data: Mapping[str, Any], time: str) -> dict[str, Any]:
        """Return a fact's JSON data together with what its type implies; null is silence, too."""
        implied = dict(self.defaults) | ({self.sets_time: time} if self.sets_time else {})
        silent = {name: value for name, value in implied.items() if data.get(name) is None}
        return {**data, **silent, **self.sets}


@dataclass(frozen=True, slots=True)
class Noun:
    """A kind of entity: its fields and the types of its facts.

    `remembers` names fields whose earlier values count too, since they decide about what has been since.
    """

    kind: str
    fields: type[Fields]
    types: Mapping[str, FactType]
    remembers: frozenset[str] = frozenset()

    @property
    def id_field(self) -> str:
        """Return the field that names the entity: `booking_id`."""
        return f"{self.kind}_id"

    def entity(self, data: Mapping[str, Any]) -> str:
        """Return the entity that a fact's data name: `booking/b1`."""
        return entity(self.kind, data[self.id_field])

    def fields_of(self, fact_type: str) -> type[Fields]:
        """Return the model of the fields that a fact of this type carries."""
        return self.types[fact_type].fields or self.fields

    def typed(self, fact_type: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return recorded JSON data as typed values, for the fields that are there."""
        read = vars(self.fields_of(fact_type).model_validate(data))
        return {name: read[name] for name in data}


NOUNS: dict[str, Noun] = {}
"""Every noun by its kind."""

NOUN_OF_TYPE: dict[str, Noun] = {}
"""The noun of every known type of fact."""


def define(noun: Noun) -> Noun:
    """Make a noun known, with all its types of fact."""
    NOUNS[noun.kind] = noun
    NOUN_OF_TYPE.update(dict.fromkeys(noun.types, noun))
    return noun
