"""Notification types: on which channels something is told, how urgent it is, and how long it is of use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from automations.fact_catalogue import KINDS, FactCatalogue, UnknownFact
from automations.registry import nearest
from automations.value_types import ValueType
from domain.deliveries import Lane
from domain.durations import parse_duration
from domain.errors import InvalidInput
from domain.notices import is_notice
from domain.text_values import shown

MANY_HOURS = timedelta(hours=24)
"""For how long a message is of use where its type does not say."""


def _read_duration(value: object) -> object:
    return parse_duration(value) if isinstance(value, str) else value


@cache
def _facts() -> FactCatalogue:
    return FactCatalogue(KINDS)


def _dated(path: str) -> str:
    """Return the path of a fact that says when something is; others are refused."""
    try:
        fact = _facts().find(path)
    except UnknownFact as error:
        raise ValueError(str(error)) from None
    if fact.type not in (ValueType.INSTANT, ValueType.DATE):
        raise ValueError(f"{path} is {fact.article}: name an instant or a date, such as booking.starts_at")
    return path


class NotificationType(BaseModel):
    """What is settled for every notification of a type; the defaults are those of a type nowhere defined.

    It goes out on all of its `channels`, or on the `first_of` several: the next one where the one before has no
    address or fails for good. It is of use for some time, or `useful_until` an instant or the end of a date that
    a fact names. With `opt_in` only those get it who asked for it; what is `mandatory` nobody can refuse.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    channels: Annotated[tuple[str, ...], Field(min_length=1, max_length=10)] = ("email",)
    first_of: Annotated[tuple[str, ...], Field(min_length=1, max_length=10)] | None = None
    lane: Lane = "transactional"
    urgency: Literal["normal", "urgent"] = "normal"
    mandatory: bool = False
    useful_for: Annotated[timedelta, BeforeValidator(_read_duration), Field(gt=timedelta())] = MANY_HOURS
    useful_until: Annotated[str, AfterValidator(_dated)] | None = None
    on_unknown: Literal["hold", "repeat"] = "hold"
    opt_in: bool = False

    @model_validator(mode="after")
    def _is_one_of_each(self) -> NotificationType:
        for one, other in (("first_of", "channels"), ("useful_until", "useful_for")):
            if {one, other} <= self.model_fields_set:
                raise ValueError(f"{one} stands beside {other}: leave one of them out")
        if self.opt_in and self.mandatory:
            raise ValueError("opt_in stands beside mandatory: what everybody gets, nobody has to ask for")
        return self

    @property
    def ways(self) -> tuple[tuple[str, ...], ...]:
        """Return the ways on which it goes out: each a channel, and those to go on with where it does not work."""
        if self.first_of is not None:
            return (tuple(dict.fromkeys(self.first_of)),)
        return tuple((channel,) for channel in dict.fromkeys(self.channels))


UNDEFINED = NotificationType()
"""The type of every name that is nowhere defined."""

TO_STAFF = NotificationType(channels=("in_app",))
"""The same, where staff are told: they look where they work, whether or not they have an address."""


class Types:
    """The notification types of one operator by name."""

    def __init__(self, defined: Mapping[str, NotificationType] | None = None) -> None:
        self._defined = dict(defined or {})

    @property
    def names(self) -> frozenset[str]:
        """Return the names of all types that are defined."""
        return frozenset(self._defined)

    def require(self, name: str) -> NotificationType:
        """Return what is settled for a type; raises InvalidInput, with the nearest name, where it is not defined."""
        if name not in self._defined:
            own = [each for each in self._defined if not is_notice(each)]
            raise InvalidInput(f"there is no notification type {shown(name)}{nearest(name, own)}")
        return self._defined[name]

    def of(self, name: str, *, to_staff: bool = False) -> NotificationType:
        """Return what is settled for a type."""
        return self._defined.get(name, TO_STAFF if to_staff else UNDEFINED)
