"""Notification types: on which channels something is told, how urgent it is, and how long it is of use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from domain.deliveries import Lane
from domain.durations import parse_duration

MANY_HOURS = timedelta(hours=24)
"""For how long a message is of use where its type does not say."""


def _read_duration(value: object) -> object:
    return parse_duration(value) if isinstance(value, str) else value


class NotificationType(BaseModel):
    """What is settled for every notification of a type; the defaults are those of a type nowhere defined."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    channels: Annotated[tuple[str, ...], Field(min_length=1, max_length=10)] = ("email",)
    lane: Lane = "transactional"
    urgency: Literal["normal", "urgent"] = "normal"
    mandatory: bool = False
    useful_for: Annotated[timedelta, BeforeValidator(_read_duration), Field(gt=timedelta())] = MANY_HOURS
    on_unknown: Literal["hold", "repeat"] = "hold"


UNDEFINED = NotificationType()
"""The type of every name that is nowhere defined."""

TO_STAFF = NotificationType(channels=("in_app",))
"""The same, where staff are told: they look where they work, whether or not they have an address."""


class Types:
    """The notification types of one operator by name."""

    def __init__(self, defined: Mapping[str, NotificationType] | None = None) -> None:
        self._defined = dict(defined or {})

    def of(self, name: str, *, to_staff: bool = False) -> NotificationType:
        """Return what is settled for a type."""
        return self._defined.get(name, TO_STAFF if to_staff else UNDEFINED)
