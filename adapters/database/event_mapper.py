"""Between domain events and what is stored of them.

Stream, version and topic have columns of their own, so the stored JSON holds everything else. An event of
an older shape is brought up to date, one step at a time, each time it is read; what is stored never changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from json.encoder import encode_basestring_ascii
from typing import Any

import pydantic_core
from eventsourcing.persistence import JSONTranscoder, Mapper, StoredEvent
from pydantic import TypeAdapter, ValidationError

from adapters.database.log_queries import StoredRow
from domain.errors import CorruptEvent
from domain.events import TOPICS, DomainEvent

_VERSION_KEY = b'{"class_version":'


@dataclass(frozen=True, slots=True)
class _Form:
    """How the events of one class are written and read.

    A class that serves many topics has no TOPIC, but a field `type` that holds the topic.
    """

    dump: Callable[[DomainEvent], bytes]
    validate: Callable[[bytes], DomainEvent]
    opening: bytes
    version: int
    topic_is_type: bool


class EventMapper(Mapper[str]):
    """Maps frozen pydantic events to stored events and back; it holds no state and serves any thread."""

    def __init__(self) -> None:
        super().__init__(JSONTranscoder())

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        """Return the event as the log keeps it; raises TypeError where nothing could read it again."""
        topic = domain_event.topic
        if TOPICS.get(topic) is not type(domain_event):
            raise TypeError(f"the topic {topic!r} is not registered for {type(domain_event).__name__}")
        return StoredEvent(domain_event.stream, domain_event.version, topic, self.state_of(domain_event))

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        """Return the event that was stored; raises CorruptEvent like `read`."""
        return self._read(
            str(stored_event.originator_id),
            stored_event.originator_version,
            stored_event.topic,
            stored_event.state,
        )

    def state_of(self, event: DomainEvent) -> bytes:
        """Return the JSON that is stored of an event."""
        form = _form_of(type(event))
        state = form.dump(event)
        return state if form.version == 1 else form.opening + state[1:]

    def read(self, row: StoredRow) -> DomainEvent:
        """Return the event of a stored row, in the newest shape of its class.

        Raises CorruptEvent where the topic is unknown or the state does not fit; it stops this event only.
        """
        return self._read(row.stream, row.version, row.topic, row.state)

    def _read(self, stream: str, version: int, topic: str, state: bytes) -> DomainEvent:
        event_class = TOPICS.get(topic)
        if event_class is None:
            raise CorruptEvent(stream, version, topic, "no event class reads this topic")
        try:
            form = _form_of(event_class)
            fields = _current(state, form, event_class)
            return form.validate(_placed(fields, stream, version, topic, form))
        except ValidationError as error:
            raise CorruptEvent(stream, version, topic, _faults(error)) from error
        except Exception as error:  # an upcast of a broken state may fail in any way
            raise CorruptEvent(stream, version, topic, f"{type(error).__name__}: {error}") from error


@cache
def _form_of(event_class: type[DomainEvent]) -> _Form:
    adapter = TypeAdapter(event_class)
    topic_is_type = "type" in event_class.model_fields and not hasattr(event_class, "TOPIC")
    outside = {"stream", "version", "type"} if topic_is_type else {"stream", "version"}
    return _Form(
        # Without the adapter's own methods, which only look up their many defaults for each event.
        dump=lambda event: adapter.serializer.to_json(event, exclude=outside),
        validate=adapter.validator.validate_json,
        opening=b"%s%d," % (_VERSION_KEY, event_class.class_version),
        version=event_class.class_version,
        topic_is_type=topic_is_type,
    )


def _current(state: bytes, form: _Form, event_class: type[DomainEvent]) -> bytes:
    """Return the members of the stored object, without its opening brace, in the newest shape."""
    if form.version == 1 and not state.startswith(_VERSION_KEY):
        if not state.startswith(b"{"):
            raise ValueError("the state is not a JSON object")
        return state[1:]
    if form.version > 1 and state.startswith(form.opening):
        return state[len(form.opening) :]
    return _upcast(state, event_class)


def _upcast(state: bytes, event_class: type[DomainEvent]) -> bytes:
    fields = pydantic_core.from_json(state)
    version = fields.pop("class_version", 1)
    newest = event_class.class_version
    if version > newest:
        raise ValueError(f"it has shape {version}, but this version of Semel reads shapes up to {newest}")
    for step in range(version, newest):
        getattr(event_class, f"upcast_v{step}_v{step + 1}")(fields)
    return pydantic_core.to_json(fields)[1:]


def _placed(fields: bytes, stream: str, version: int, topic: str, form: _Form) -> bytes:
    # Validating JSON as JSON: in Python mode, strict fields would refuse what they themselves wrote.
    place = f'{{"stream":{encode_basestring_ascii(stream)},"version":{version},'
    if form.topic_is_type:
        place += f'"type":{encode_basestring_ascii(topic)},'
    return place.encode() + fields


def _faults(error: ValidationError) -> str:
    # Without the values: they may be anything.
    details = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'state'}: {detail['msg']}" for detail in details)
