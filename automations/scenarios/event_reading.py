"""Events as scenario files write them: their data, with bare local times made instants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, get_args
from zoneinfo import ZoneInfo

from automations.mistakes import Key, Path
from automations.registry import nearest
from automations.scenario import RecordEvent
from automations.scenarios.parts import Part, Reading
from domain.catalogue import known, read_data
from domain.civil_time import instant_of
from domain.errors import InvalidInput, Mistake
from domain.ids import LONGEST_ID
from domain.nouns import NOUN_OF_TYPE, NOUNS
from domain.text_values import did_you_mean, shown
from domain.time_texts import parse_wall

MODIFIERS = ("event_id", "event_time", "source")
"""What an event may carry beside its data."""

_LOCAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?")
_OUTSIDE_TYPE = re.compile(r"[A-Za-z0-9_/-]+(\.[A-Za-z0-9_/-]+)+")


@dataclass(slots=True)
class EventReader:
    """Reads the events of one document; those without an id get ascending ones, in the order of the file."""

    reading: Reading
    _count: int = field(default=0)

    def read(self, fact_type: str, data: object, around: Part) -> RecordEvent | None:
        """Return the event under one key of an item; what is wrong leaves mistakes."""
        self._count += 1
        path = (*around.path, fact_type)
        values = self._values(fact_type, data, path)
        identifier = around.text("event_id", longest=LONGEST_ID) or f"event-{self._count:06d}"
        source = around.text("source", longest=LONGEST_ID) or "scenario"
        time = around.instant("event_time")
        return None if values is None else RecordEvent(fact_type, identifier, values, source, time)

    def _values(self, fact_type: str, data: object, path: Path) -> dict[str, Any] | None:
        part = self.reading.part({} if data is None else data, path, "the data of an event are a mapping")
        if part is None:
            return None
        before = len(self.reading.mistakes)
        values = self._localised(fact_type, part)
        if known(fact_type):
            self.reading.mistakes.extend(_faults(fact_type, values), path)
        return values if len(self.reading.mistakes) == before else None

    def _localised(self, fact_type: str, part: Part) -> dict[str, Any]:
        fields = NOUN_OF_TYPE[fact_type].fields_of(fact_type).model_fields if known(fact_type) else {}
        values: dict[str, Any] = {}
        for name, value in part.data.items():
            may_be_instant = name not in fields or _holds_instants(fields[name].annotation)
            try:
                values[name] = _with_instants(value, self.reading.zone) if may_be_instant else value
            except ValueError as error:
                part.mistake(name, str(error))
        return values


def is_event(name: str) -> bool:
    """Say whether a key can only mean an event: one of the catalogue, or one of another noun."""
    if known(name):
        return True
    looks_like_one = _OUTSIDE_TYPE.fullmatch(name) is not None
    return looks_like_one and name.partition(".")[0] not in NOUNS and not did_you_mean(name, NOUN_OF_TYPE)


def unknown_name(around: Part, name: str, steps: tuple[str, ...]) -> None:
    """Keep that a key means neither a step nor an event."""
    hint = did_you_mean(name, NOUN_OF_TYPE) if "." in name else nearest(name, steps)
    around.reading.mistakes.add((*around.path, Key(name)), f"{shown(name)} is neither a step nor an event{hint}")


def _faults(fact_type: str, values: Mapping[str, Any]) -> list[Mistake]:
    try:
        read_data(fact_type, values)
    except InvalidInput as error:
        return [_placed(mistake) for mistake in error.mistakes]
    return []


def _placed(mistake: Mistake) -> Mistake:
    """Return a fault of an event's data with a path inside of them, and a message that names the field."""
    path = mistake.path[1:]
    name = str(path[0]) if path else "data"
    if mistake.message == "is missing":
        return Mistake((), f"{name!r} is missing")
    return Mistake(path, f"{name}: {mistake.message}", mistake.offset)


def _holds_instants(annotation: object) -> bool:
    return annotation is datetime or any(_holds_instants(part) for part in get_args(annotation))


def _with_instants(value: Any, zone: ZoneInfo) -> Any:
    """Return a value in which each bare local time has its zone's offset."""
    match value:
        case str() if _LOCAL.fullmatch(value):
            return instant_of(parse_wall(value), zone).astimezone(zone).isoformat()
        case dict():
            return {name: _with_instants(inner, zone) for name, inner in value.items()}
        case list():
            return [_with_instants(inner, zone) for inner in value]
        case _:
            return value
