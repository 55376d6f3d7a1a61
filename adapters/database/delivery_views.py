"""What decides about deliveries, over one connection: facts, rules, preferences, and what is against an address."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa

from adapters.database import log_queries, meta
from adapters.database.devices import read_devices
from adapters.database.event_log import EventLog
from adapters.database.event_mapper import EventMapper
from adapters.database.facts import EntityCache, FreshEntities
from adapters.database.personal import StoredPersonalValues
from adapters.database.rules import StoredRules
from adapters.database.stored_executions import Executions, read_executions
from adapters.database.worlds import world_over
from automations.notifications.policy import EVERYTHING, Case, address_of, is_device
from automations.recheck import Look
from automations.rulebook import RuleBook
from automations.situation import World
from domain.deliveries import Delivery, DeliveryPending
from domain.devices import Device
from domain.errors import CorruptEvent
from domain.events import DomainEvent
from domain.executions import Execution
from domain.facts import Fact, PersonalRef
from domain.ids import entity, id_of, kind_of
from domain.notifications import STAFF
from domain.nouns import NOUNS
from domain.preferences import Preferences, preferences_of, preferences_stream
from domain.suppressions import Suppressions, suppression_stream, suppressions_of

NO_SENDERS: Mapping[str, str] = {}
"""Nobody knows who messages are from, so that what is against one sender counts for each."""


class DeliveryViews:
    """Makes views for one worker, and remembers states and rules between them; not shared between threads.

    `channels` are those that the operator has; `senders` says who messages are from, by channel, where that counts.
    """

    def __init__(
        self,
        log: EventLog,
        default_zone: str,
        channels: Container[str] = EVERYTHING,
        senders: Mapping[str, str] = NO_SENDERS,
    ) -> None:
        self._mapper = log.mapper
        self._senders = senders
        self._default_zone = default_zone
        self._channels = channels
        self._cache = EntityCache(log.mapper)
        self._rules = StoredRules(log.mapper)
        self._salt: bytes | None = None

    def at_head(self, connection: sa.Connection, asked: Iterable[DeliveryPending]) -> StoredView:
        """Return what decides about these deliveries now, for as long as the transaction lasts."""
        self._cache.trim()
        deliveries = list(asked)
        entities = self._cache.at_head(connection)
        world = world_over(connection, entities, self._default_zone)
        named = {name for each in deliveries for name in (each.to, each.entity)}
        world.prepare(name for name in named if kind_of(name) in NOUNS)
        if isinstance(world.personal, StoredPersonalValues):
            world.personal.prepare(PersonalRef(each.about, each.payload) for each in deliveries if each.payload)
        keys = {each.cause.execution for each in deliveries if each.cause is not None}
        return StoredView(
            connection,
            self._mapper,
            world,
            entities,
            self._rules.move_to(connection, entities.position),
            read_executions(connection, self._mapper, keys),
            self._channels,
            self._senders,
            self._wishes(connection, world, deliveries),
            read_devices(connection, self._mapper, {stream for each in deliveries for stream in _devices_of(each)}),
        )

    def _wishes(self, connection: sa.Connection, world: World, deliveries: Sequence[DeliveryPending]) -> Wishes:
        """Read what recipients prefer, and what is against their addresses, all at once."""
        if self._salt is None:
            self._salt = meta.salt(connection)
        wishes = Wishes(self._salt)
        wanted = {preferences_stream(id_of(each.to)) for each in deliveries if each.to != STAFF}
        for each in deliveries:
            for channel in (each.channel, *each.then):
                address = address_of(each.to, channel, world)
                wanted |= {wishes.stream_of(channel, address)} if address else set()
        rows: defaultdict[str, list[DomainEvent]] = defaultdict(list)
        for row in log_queries.streams(connection, wanted):
            try:
                rows[row.stream].append(self._mapper.read(row))
            except CorruptEvent as error:
                wishes.unreadable[row.stream] = error
        return wishes.filled(rows)


def _devices_of(asked: DeliveryPending) -> set[str]:
    """Return the streams of the devices that a delivery, or one that follows it, may go to."""
    own = {asked.address} if is_device(asked.address) else set()
    return own | {entity("device", each) for each in asked.devices}


@dataclass(frozen=True, slots=True)
class Wishes:
    """What recipients prefer and what is against their addresses, by stream; who has neither is not in it."""

    salt: bytes
    preferences: dict[str, Preferences] = field(default_factory=dict)
    suppressions: dict[str, Suppressions] = field(default_factory=dict)
    unreadable: dict[str, CorruptEvent] = field(default_factory=dict)
    _streams: dict[tuple[str, str], str] = field(default_factory=dict)

    def filled(self, events: Mapping[str, Sequence[DomainEvent]]) -> Wishes:
        """Take over what the events of streams fold to."""
        for stream, found in events.items():
            if kind_of(stream) == "preference":
                self.preferences[stream] = preferences_of(stream, found)
            else:
                self.suppressions[stream] = suppressions_of(stream, found)
        return self

    def of(self, to: str) -> Preferences:
        """Return what a recipient prefers; raises CorruptEvent where nobody can say."""
        stream = preferences_stream(id_of(to))
        self._require(stream)
        return self.preferences.get(stream) or Preferences(stream)

    def against(self, channel: str, address: str) -> Suppressions:
        """Return what is against an address; raises CorruptEvent where nobody can say."""
        stream = self.stream_of(channel, address)
        self._require(stream)
        return self.suppressions.get(stream) or Suppressions(stream)

    def stream_of(self, channel: str, address: str) -> str:
        """Return the stream of an address on a channel."""
        place = (channel, address)
        stream = self._streams.get(place)
        if stream is None:
            stream = self._streams[place] = suppression_stream(channel, address, self.salt)
        return stream

    def _require(self, stream: str) -> None:
        if stream in self.unreadable:
            raise self.unreadable[stream]


@dataclass(frozen=True, slots=True)
class StoredView:
    """What a check sees of deliveries, over one connection."""

    connection: sa.Connection
    mapper: EventMapper
    world: World
    entities: FreshEntities
    rules: RuleBook
    executions: Executions
    channels: Container[str]
    senders: Mapping[str, str]
    wishes: Wishes
    devices: Mapping[str, Device]

    def case(self, delivery: Delivery, at: datetime) -> Case:
        """Return everything that decides about one delivery; raises CorruptEvent where that cannot be read."""
        asked = delivery.asked
        key = asked.cause.execution if asked.cause is not None else ""
        if key in self.executions.unreadable:
            raise self.executions.unreadable[key]
        execution = self.executions.readable.get(key)
        return Case(
            delivery,
            at,
            self.world,
            execution,
            None if execution is None else self._look(execution),
            self.wishes.of(asked.to),
            lambda address: self._against(asked, address),
            self.channels,
            self.devices.get(asked.address),
            self.senders.get(asked.channel, ""),
        )

    def _against(self, asked: DeliveryPending, address: str) -> Suppressions:
        """Return what is against sending this to an address."""
        known = self.wishes.against(asked.channel, address)
        return known.of_what_must_arrive() if asked.mandatory or asked.urgent else known

    def _look(self, execution: Execution) -> Look:
        return Look(self.world, self.rules.ready(execution.claim.rule), self._event(execution))

    def _event(self, execution: Execution) -> Fact | None:
        version, stream = execution.occurrence.source, execution.claim.entity
        if not version:
            return None
        rows = log_queries.streams(self.connection, [stream], {stream: version - 1})
        event = self.mapper.read(rows[0])
        return event if isinstance(event, Fact) else None
