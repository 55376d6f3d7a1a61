"""A world of dictionaries: facts folded in memory, for tests of what automations see and decide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from automations.authoring import read_rule
from automations.candidates import Claim, Considered, Trace
from automations.evaluator import Evaluator
from automations.rulebook import ReadyRule, RuleBook
from automations.situation import Situation, World
from domain.civil_time import local_date, zone
from domain.errors import CorruptEvent
from domain.events import Cause
from domain.facts import Entity, Fact, PersonalRef, folded
from domain.nouns import NOUN_OF_TYPE
from domain.rules import RuleState, rule_state, saved

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
ZONE = "Europe/Berlin"


@dataclass(slots=True)
class Ledger:
    """Facts by stream (`ports.Entities`), personal values (`ports.PersonalValues`) and counts (`ports.Counts`)."""

    facts: dict[str, list[Fact]] = field(default_factory=dict)
    personal: dict[str, object] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    corrupt: set[str] = field(default_factory=set)

    def tell(
        self, event_type: str, *, at: datetime = NOON, cause: Cause | None = None, id: str = "", **data: Any
    ) -> Fact:
        """Add a fact, and return it; what is personal goes where it belongs."""
        noun = NOUN_OF_TYPE[event_type]
        fields = noun.fields_of(event_type)
        data = noun.types[event_type].completed(data, at.isoformat())
        stream = noun.entity(data)
        before = folded(Entity(stream), self.facts.get(stream, []))
        version = before.version + 1
        private = {n for n in data if n in fields.PERSONAL or n not in fields.model_fields}
        refs = {(n if n in fields.model_fields else f"extra.{n}"): f"{stream}/{version}/{n}" for n in private}
        self.personal |= {ref: data[ref.rpartition("/")[2]] for ref in refs.values()}
        changed = tuple(n for n, value in data.items() if n not in private and value != before.get(n))
        fact = Fact(
            stream=stream,
            version=version,
            at=at,
            cause=cause,
            type=event_type,
            source="outside",
            id=id or f"{event_type}-{version}",
            time=at,
            event_date=local_date(at, zone(ZONE)),
            data={n: value for n, value in data.items() if n not in private},
            member=str(data.get("member_id") or ""),
            personal=refs,
            changed=changed,
        )
        self.facts.setdefault(stream, []).append(fact)
        return fact

    def get(self, stream: str) -> Entity:
        """Return the state of an entity."""
        if stream in self.corrupt:
            raise CorruptEvent(stream, 1, "booking.created", "state: not JSON")
        return folded(Entity(stream), self.facts.get(stream, []))

    def prepare(self, streams: Iterable[str]) -> list[Entity]:
        """Return the states of entities; nothing is to be loaded."""
        return [folded(Entity(stream), self.facts.get(stream, [])) for stream in streams]

    def before(self, stream: str, version: int) -> Entity:
        """Return an entity as it was before a version of its stream."""
        return folded(Entity(stream), [fact for fact in self.facts[stream] if fact.version < version])

    def read(self, reference: PersonalRef) -> object | None:
        """Return a personal value."""
        return self.personal.get(reference.ref)

    def bookings_before(self, member: str, booking: Entity) -> int:
        """Return the count that a test has set."""
        return self.counts[member]

    @property
    def world(self) -> World:
        """Return the world made of all this."""
        return World(self, self, self, ZONE)

    def situation(self, stream: str, event: Fact | None = None, at: datetime = NOON) -> Situation:
        """Return what conditions see about an entity."""
        return self.world.situation(stream, at, event)


def scene() -> Ledger:
    """Return a ledger with a space, a room and a member."""
    ledger = Ledger()
    ledger.tell("space.opened", space_id="mitte", name="Mitte", time_zone=ZONE, currency="EUR", locale="de")
    ledger.tell("resource.added", resource_id="r1", space_id="mitte", kind="meeting_room", name="Spree", door="d1")
    ledger.tell("member.registered", member_id="m1", name="Mia", company="Acme", locale="it", tags=["vip"])
    return ledger


def book(ledger: Ledger, identifier: str = "b1", **more: Any) -> Fact:
    """Tell of a booking on 12 May from 10:00 to 12:00 in Berlin."""
    data = {
        "booking_id": identifier,
        "resource_id": "r1",
        "member_id": "m1",
        "starts_at": "2026-05-12T10:00:00+02:00",
        "ends_at": "2026-05-12T12:00:00+02:00",
        **more,
    }
    return ledger.tell("booking.created", **data)


def rule_of(when: str, *where: Any, identifier: str = "r", **more: Any) -> RuleState:
    """Return a rule as it is once it is saved and enabled."""
    given = {"id": identifier, "when": when, "where": list(where), "do": [{"create_task": {"title": "x"}}], **more}
    read = read_rule(given)
    events = saved(None, read.rule, enabled=read.enabled, at=NOON - timedelta(days=1), by="test")
    state = rule_state(events)
    assert state is not None
    return state


def ready_rule(when: str, *where: Any, **more: Any) -> ReadyRule:
    """Return a rule ready for use."""
    state = rule_of(when, *where, **more)
    found = RuleBook([state]).ready(state.rule.id)
    assert found is not None
    return found


def considered(ledger: Ledger, fact: Fact, *rules: RuleState, at: datetime = NOON) -> list[Claim | Trace]:
    """Return what comes of one fact under some rules."""
    found = Considered()
    Evaluator(RuleBook(rules)).consider(fact, ledger.world, at, found)
    return [*found.claims, *found.traces]
