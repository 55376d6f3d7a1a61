"""Spaces and their resources: the places that members book."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain.civil_time import Zone
from domain.fields import ClockTime, Count, CurrencyCode, Fields, Locale, Text, Texts
from domain.ids import Id
from domain.nouns import FactType, Noun, define
from domain.time_texts import parse_clock_time

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

WEEKDAYS: tuple[str, ...] = get_args(Weekday)
"""The days of the week, Monday first, as rules write them."""

ResourceKind = Literal["meeting_room", "desk", "office", "event_space", "phone_booth", "other"]


class QuietHours(BaseModel):
    """The hours of a space in which nobody is written to; they may wrap midnight."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: ClockTime
    end: ClockTime
    days: Annotated[tuple[Weekday, ...], Field(max_length=7)] = ()

    @model_validator(mode="after")
    def _is_a_span(self) -> QuietHours:
        if parse_clock_time(self.start) == parse_clock_time(self.end):
            raise ValueError("start and end are the same: leave quiet_hours out for none")
        return self


class SpaceFields(Fields):
    """What is told about a space."""

    space_id: Id | None = None
    name: Text | None = None
    time_zone: Zone | None = None
    currency: CurrencyCode | None = None
    locale: Locale | None = None
    address: Text | None = None
    quiet_hours: QuietHours | None = None
    closed_days: Texts | None = None


class ResourceFields(Fields):
    """What is told about a resource: a room, a desk, a booth."""

    resource_id: Id | None = None
    space_id: Id | None = None
    kind: ResourceKind | None = None
    name: Text | None = None
    capacity: Count | None = None
    door: Text | None = None


SPACE = define(
    Noun(
        kind="space",
        fields=SpaceFields,
        types={
            "space.opened": FactType(needs=("space_id", "name", "time_zone", "currency")),
            "space.changed": FactType(needs=("space_id",)),
        },
    )
)

RESOURCE = define(
    Noun(
        kind="resource",
        fields=ResourceFields,
        types={
            "resource.added": FactType(needs=("resource_id", "space_id", "kind", "name")),
            "resource.changed": FactType(needs=("resource_id",)),
        },
    )
)
