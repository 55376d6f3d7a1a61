"""What the embedded services decide: from a command and the state of things to a fact, or to a no.

One module for each service. Decisions are pure: the states come in, the fact goes out, and nothing is
recorded here. Facts may arrive late, so an unknown member is served; only an erased one is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Generic, Protocol, TypeVar

from domain.commands import Command
from domain.endings import Refused
from domain.facts import Entity
from domain.ids import digest, entity
from domain.money import Money

SHORTENED = 32
"""Hexadecimal characters of a digest that an id shows: 128 bits, which never meet by chance."""

C = TypeVar("C", bound=Command)


class Ground(Protocol):
    """What a decision stands on; none of it changes until what was decided is recorded."""

    def find(self, stream: str) -> Entity:
        """Return the state of an entity; an unknown one has version 0."""
        ...

    def next_number(self, series: str) -> int:
        """Return the number that is taken next in a series, from 1."""
        ...


@dataclass(frozen=True, slots=True)
class Decided:
    """The fact that a service records.

    `data` is what an event of this type carries, in JSON form, with its personal values still in place.
    `series` names the series whose next number goes with it.
    """

    type: str
    data: Mapping[str, Any]
    series: str = ""


@dataclass(frozen=True, slots=True)
class Operation(Generic[C]):
    """One operation of a service: how it is decided, and what its caller gets.

    `entity` is whose state the decision changes, told from the command and its idempotency key alone;
    `answer` names the fields of that entity which the caller gets, on a repeat as at first.
    """

    command: type[C]
    entity: Callable[[C, str], str]
    decide: Callable[[C, str, Ground], Decided | Refused]
    answer: tuple[str, ...]


def id_made_of(kind: str, *parts: str) -> str:
    """Return an id that a repeat hits again: the kind, and the digest of what makes it unique."""
    return f"{kind}-{digest(kind, *parts)[:SHORTENED]}"


def made_by_key(kind: str) -> Callable[[Command, str], str]:
    """Return what names the entity of a kind that each new idempotency key makes."""
    return lambda _command, key: entity(kind, id_made_of(kind, key))


def as_data(**values: Any) -> dict[str, Any]:
    """Return the data of a fact: values in JSON form, without those that are missing."""
    return {name: _as_json(value) for name, value in values.items() if value is not None and value != ""}


def stamped(state: Entity, at: datetime) -> tuple[datetime, str]:
    """Return the time and the sequence of the next fact that a service decides about an entity.

    It must win over all that was known when it was decided, even if the clock has been set back since, or
    stands still.
    """
    latest = max((stamp.time for stamp in state.stamps.values()), default=at)
    return max(at, latest), f"{state.version + 1:010d}"


def refusal_about_member(command: Command, ground: Ground) -> Refused | None:
    """Return why nothing can be done for the member of a command, or None if it can."""
    refused = refusal_without_member(command)
    if refused is None and ground.find(entity("member", command.member_id)).get("erased"):
        return Refused(reason=f"member/{command.member_id} has been erased")
    return refused


def refusal_without_member(command: Command) -> Refused | None:
    """Return why a command that is about nobody cannot be carried out, or None if it names a member."""
    if command.member_id:
        return None
    return Refused(reason=f"no member is named, and {command.entity} has none", at_fault="rule")


def refusal_of_amount(amount: Money, name: str) -> Refused | None:
    """Return why an amount cannot be asked of anybody, or None if it can."""
    if amount.amount > 0:
        return None
    return Refused(reason=f"the {name} {amount} is not above zero", at_fault="rule")


def _as_json(value: Any) -> Any:
    match value:
        case date():
            return value.isoformat()
        case Money():
            return str(value)
        case _:
            return value
