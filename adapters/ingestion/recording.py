"""Incoming events become facts in one unit of work: once each, in order, with their personal values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from adapters.database import log_queries
from adapters.database.event_mapper import EventMapper
from adapters.database.facts import EntityCache, FreshEntities
from adapters.database.personal import PersonalRow, StoredPersonalValues, erase
from adapters.database.personal import write as write_personal
from adapters.database.unit_of_work import UnitOfWork
from adapters.ingestion.causes import Causes
from adapters.ingestion.inbox import Name, enter, fingerprint
from adapters.ingestion.incoming import Incoming, Outcome
from adapters.ingestion.making import WALLED, FactMaker
from domain import catalogue
from domain.bookings import SeriesBegun
from domain.errors import InvalidInput, Mistake
from domain.events import Cause, DomainEvent
from domain.facts import Entity, Fact
from domain.fields import inside_calendar
from domain.ids import entity, id_of
from domain.nouns import NOUN_OF_TYPE
from domain.outside import OutsideEvent


class FactRecorder:
    """Records incoming events; it remembers entity states and is not shared between threads."""

    def __init__(self, mapper: EventMapper, cache: EntityCache, salt: bytes, default_zone: str) -> None:
        self._mapper = mapper
        self._cache = cache
        self._salt = salt
        self._default_zone = default_zone

    def record(self, work: UnitOfWork, incoming: Sequence[Incoming], at: datetime) -> list[Outcome]:
        """Append a fact for each event that was not recorded before; say what came of each, in order.

        Raises Conflict if somebody else wrote to one of the streams meanwhile: repeat the whole unit then.
        """
        outcomes = self._enter(work, incoming)
        new = [index for index, outcome in enumerate(outcomes) if outcome.status == "accepted"]
        if not new:
            return outcomes
        batch = _Batch(work, self._mapper, self._cache.at_head(work.connection), at, self._default_zone)
        batch.prepare([incoming[index] for index in new])
        for index in new:
            event = batch.add(incoming[index])
            outcomes[index] = Outcome("accepted", incoming[index].source, incoming[index].id, event)
        batch.write()
        work.after_commit(lambda: self._remember(batch.states.values()))
        return outcomes

    def _remember(self, states: Iterable[Entity]) -> None:
        self._cache.put_all(states)
        self._cache.trim()

    def _enter(self, work: UnitOfWork, incoming: Sequence[Incoming]) -> list[Outcome]:
        prints: dict[Name, bytes] = {}
        own: list[bytes | None] = []
        outcomes: list[Outcome | None] = []
        for event in incoming:
            try:
                _check_calendar(event)
                own.append(fingerprint(event.identity, self._salt))
                prints.setdefault((event.source, event.id), own[-1] or b"")
                outcomes.append(None)
            except InvalidInput as error:
                own.append(None)
                outcomes.append(Outcome("refused", event.source, event.id, mistakes=error.mistakes))
        answers = enter(work.connection, prints)
        return [
            outcome or self._answer(event, printed, prints, answers)
            for event, printed, outcome in zip(incoming, own, outcomes, strict=True)
        ]

    @staticmethod
    def _answer(event: Incoming, printed: bytes | None, prints: dict[Name, bytes], answers: dict[Name, Any]) -> Outcome:
        """Return what came of one event; the first of its name in the batch takes the answer with it."""
        name = (event.source, event.id)
        answer = answers[name]
        if answer == "accepted":
            answers[name] = "duplicate"
        elif printed != prints[name]:
            answer = "conflict"
        return Outcome(answer, event.source, event.id)


def _check_calendar(event: Incoming) -> None:
    """Raise InvalidInput where a time lies so far out that no zone may have a local date for it."""
    mistakes = []
    data = event.data if isinstance(event.data, Mapping) and catalogue.known(event.type) else {}
    told: dict[tuple[str, ...], Any] = {("time",): event.time}
    told |= {("data", name): data[name] for name in WALLED if data.get(name)}
    for path, value in told.items():
        try:
            inside_calendar(datetime.fromisoformat(value) if isinstance(value, str) else value)
        except ValueError as error:
            mistakes.append(Mistake(path, str(error)))
    if mistakes:
        raise InvalidInput(mistakes)


@dataclass(slots=True)
class _Batch:
    """What one unit of work records: states as they become, events, and personal values."""

    work: UnitOfWork
    mapper: EventMapper
    entities: FreshEntities
    at: datetime
    default_zone: str
    states: dict[str, Entity] = field(default_factory=dict)
    events: list[DomainEvent] = field(default_factory=list)
    rows: list[PersonalRow] = field(default_factory=list)
    series: dict[str, str] = field(default_factory=dict)
    outside: dict[str, int] = field(default_factory=dict)
    erased: list[str] = field(default_factory=list)
    causes: Causes = field(init=False)

    def prepare(self, incoming: Sequence[Incoming]) -> None:
        """Load what the batch needs in few statements: the entities, their places, series, counts, and causes."""
        self.causes = Causes(self.work.connection, self.mapper, incoming)
        known = [event for event in incoming if catalogue.known(event.type)]
        streams = {NOUN_OF_TYPE[event.type].entity(event.data) for event in known}
        places = {entity("resource", event.data["resource_id"]) for event in known if event.data.get("resource_id")}
        self.entities.prepare(streams | places)
        spaces = {self.entities.get(place).get("space_id") for place in places}
        spaces |= {event.data.get("space_id") for event in known}
        self.entities.prepare(entity("space", space) for space in spaces if space)
        self.series = self._openers({entity("series", e.data["series_id"]) for e in known if e.data.get("series_id")})
        unknown = {entity("outside", event.type) for event in incoming if not catalogue.known(event.type)}
        self.outside = log_queries.last_versions(self.work.connection, unknown)

    def _openers(self, streams: set[str]) -> dict[str, str]:
        begun = self._read(streams)
        return {event.stream: event.booking for event in begun if isinstance(event, SeriesBegun)}

    def _read(self, streams: Iterable[str]) -> Iterator[DomainEvent]:
        return map(self.mapper.read, log_queries.streams(self.work.connection, streams))

    def find(self, stream: str) -> Entity:
        """Return the state of an entity as this batch has made it so far."""
        return self.states[stream] if stream in self.states else self.entities.get(stream)

    def add(self, incoming: Incoming) -> Fact | OutsideEvent:
        """Make the event of one incoming event, and take its effect over."""
        cause = self.causes.of(incoming)
        if not catalogue.known(incoming.type):
            return self._add_outside(incoming, cause)
        personal = StoredPersonalValues(self.work.connection)
        maker = FactMaker(self.find, personal.read, self.default_zone, self.at)
        made = maker.make(incoming, self._series(incoming), cause)
        self.states[made.entity.stream] = made.entity
        self.events.append(made.fact)
        self.rows.extend(made.personal)
        if incoming.type == "member.erased":
            self.erased.append(id_of(made.entity.stream))
        return made.fact

    def write(self) -> None:
        """Hand everything to the unit of work."""
        write_personal(self.work.connection, self.rows)
        for member in self.erased:
            erase(self.work.connection, member)
        self.work.append(self.events)

    def _series(self, incoming: Incoming) -> dict[str, Any]:
        """Return whether a new booking is the first recorded of its series; alone it always is."""
        if incoming.type != "booking.created":
            return {}
        if not incoming.data.get("series_id"):
            return {"first_in_series": True}
        stream, booking = entity("series", incoming.data["series_id"]), incoming.data["booking_id"]
        if stream not in self.series:
            self.series[stream] = booking
            self.events.append(SeriesBegun(stream=stream, version=1, at=self.at, booking=booking))
        return {"first_in_series": self.series[stream] == booking}

    def _add_outside(self, incoming: Incoming, cause: Cause | None) -> OutsideEvent:
        stream = entity("outside", incoming.type)
        version = self.outside[stream] = self.outside.get(stream, 0) + 1
        ref = f"{stream}/{version}/payload"
        named = incoming.data.get("member_id") if isinstance(incoming.data, dict) else None
        member = named if isinstance(named, str) else ""
        self.rows.append(PersonalRow(member, ref, incoming.data))
        event = OutsideEvent(
            stream=stream,
            version=version,
            at=self.at,
            cause=cause,
            type=incoming.type,
            source=incoming.source,
            id=incoming.id,
            time=incoming.time,
            member=member,
            payload=ref,
        )
        self.events.append(event)
        return event
