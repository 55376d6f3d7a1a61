"""What every recorded event has: its stream, version, instant and cause; topics; upcasting.

An event whose shape has changed raises `class_version` and has one static method `upcast_v1_v2(state)`
for each step, which changes the stored dictionary in place.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from domain.civil_time import Instant

TOPICS: dict[str, type[DomainEvent]] = {}
"""The class of each stored topic; filled as event classes are defined."""


class Cause(BaseModel):
    """The execution that made an event happen, and the chain of rules that led there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    execution: str
    rules: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """Return how many executions stand between this event and an outside one."""
        return len(self.rules)


class DomainEvent(BaseModel):
    """A fact at one version of one stream, recorded at one instant.

    Subclasses name the stored topic with `TOPIC`, which outlives renames of class and module.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    TOPIC: ClassVar[str]
    class_version: ClassVar[int] = 1

    stream: str
    version: int
    at: Instant
    cause: Cause | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "TOPIC" in cls.__dict__:
            register_topic(cls.TOPIC, cls)

    @property
    def topic(self) -> str:
        """Return the stored name of this event's type."""
        return self.TOPIC


def register_topic(topic: str, event_class: type[DomainEvent]) -> None:
    """Name the class that reads a topic; a topic has one meaning for ever."""
    if TOPICS.setdefault(topic, event_class) is not event_class:
        raise TypeError(f"two event classes claim the topic {topic!r}")
