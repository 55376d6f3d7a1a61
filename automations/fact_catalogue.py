"""Which facts exist, with their types, and which of them the rules of one trigger can see.

The fields of the nouns are facts by themselves; `_DERIVED` adds what is computed from them. A path is a root
and the names below it: `booking.attendees`, `booking.extra.code`, `event.before.status`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import domain.facts  # noqa: F401 - makes every noun known
from automations.field_types import facts_of_fields
from automations.registry import nearest
from automations.value_types import KnownFact, ValueType
from domain.fields import Fields
from domain.nouns import NOUN_OF_TYPE, NOUNS
from domain.spaces import Weekday
from domain.text_values import did_you_mean, shown

KINDS = ("booking", "invoice", "payment", "subscription", "reminder", "member", "resource", "space")
"""The roots that stand for an entity, or for a part of one."""

ROOTS = (*KINDS, "event")
"""Every first name that a fact can have."""

EXTRA = "extra"
"""Below this name lie the fields that no noun lists; they may have any type."""

_WEEKDAYS: tuple[str, ...] = Weekday.__args__  # type: ignore[attr-defined]

_DERIVED: Mapping[str, tuple[KnownFact, ...]] = {
    "booking": (
        KnownFact("duration", ValueType.DURATION),
        KnownFact("weekday", ValueType.CHOICE, _WEEKDAYS),
        KnownFact("date", ValueType.DATE),
        KnownFact("start_time", ValueType.CLOCK),
        KnownFact("end_time", ValueType.CLOCK),
        KnownFact("door_left", ValueType.TEXT),
    ),
    "invoice": (
        KnownFact("outstanding", ValueType.MONEY),
        KnownFact("days_overdue", ValueType.NUMBER),
        KnownFact("paid_at", ValueType.INSTANT),
    ),
    "member": (KnownFact("bookings_before", ValueType.NUMBER),),
    "event": (
        KnownFact("id", ValueType.TEXT),
        KnownFact("type", ValueType.TEXT),
        KnownFact("source", ValueType.TEXT),
        KnownFact("time", ValueType.INSTANT),
        KnownFact("date", ValueType.DATE),
    ),
}


class UnknownFact(LookupError):
    """A rule names a fact that does not exist where it is used."""

    def __str__(self) -> str:
        return str(self.args[0])


class FactCatalogue:
    """The facts that one trigger's rules, conditions and templates can name.

    `roots` are the first names that the trigger offers; with `event`, `fact_type` is the type of the event
    that started the rule.
    """

    def __init__(self, roots: tuple[str, ...], fact_type: str | None = None) -> None:
        self.roots = roots
        self.fact_type = fact_type
        self._facts: dict[str, KnownFact] = {}
        for root in roots:
            found = _event_facts(fact_type or "") if root == "event" else _facts_of(root)
            self._facts.update((fact.path, fact) for fact in found)

    def __iter__(self) -> Iterator[KnownFact]:
        return iter(self._facts.values())

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._known(path) is not None

    def find(self, path: str) -> KnownFact:
        """Return the fact of this path, or raise `UnknownFact` with the nearest name that exists."""
        found = self._known(path)
        if found is None:
            raise UnknownFact(self._explained(path))
        return found

    def has_below(self, path: str) -> bool:
        """Say whether facts lie below this name, as below `event.before` or `booking.extra`."""
        if path in self.roots or self._is_extra(f"{path}.x"):
            return True
        return any(known.startswith(f"{path}.") for known in self._facts)

    def _known(self, path: str) -> KnownFact | None:
        found = self._facts.get(path)
        if found is None and self._is_extra(path):
            # What outside software sends along may well say something about a person.
            return KnownFact(path, ValueType.ANY, personal=True)
        return found

    def _is_extra(self, path: str) -> bool:
        root, _, rest = path.partition(".")
        if root == "event":
            rest = rest.removeprefix("before.")
        name, dot, below = rest.partition(".")
        return root in self.roots and name == EXTRA and bool(dot and below)

    def _explained(self, path: str) -> str:
        root = path.partition(".")[0]
        offered = ", ".join(self.roots)
        if root in self.roots:
            known = [fact for fact in self._facts if fact.startswith(f"{root}.")]
            longer = [fact for fact in known if fact.startswith(path)] if path.count(".") else []
            return f"no fact is called {shown(path)}{_instead(longer) or nearest(path, known)}"
        if root == "event":
            return f"{path}: only event triggers have an event; this one offers {offered}"
        if root in ROOTS:
            return f"{path}: this trigger has no {root}; it offers {offered}"
        ending = [fact for fact in self._facts if fact.endswith(f".{path}") and fact.count(".") == 1]
        if ending:
            return f"no fact is called {shown(path)}{_instead(ending)}"
        meant = did_you_mean(path, self._facts) or f"; facts begin with {offered}"
        return f"no fact is called {shown(path)}{meant}"


def _instead(facts: list[str]) -> str:
    return f"; did you mean {' or '.join(facts[:5])}?" if facts else ""


@cache
def is_branch(path: str) -> bool:
    """Say whether facts lie below this name instead of a value: `booking.extra`, `event.before`."""
    root, _, name = path.partition(".")
    if root == "event":
        name = name.removeprefix("before.")
    if name == EXTRA or path == "event.before":
        return True
    return any(fact.path.startswith(f"{path}.") for kind in KINDS for fact in _facts_of(kind))


@cache
def catalogue_of(roots: tuple[str, ...], fact_type: str | None = None) -> FactCatalogue:
    """Return the catalogue of these roots, made once."""
    return FactCatalogue(roots, fact_type)


def _fields_of(root: str) -> type[Fields]:
    if root == "payment":
        return NOUN_OF_TYPE["payment.received"].fields_of("payment.received")
    return NOUNS[root].fields


@cache
def _facts_of(root: str) -> tuple[KnownFact, ...]:
    return (*facts_of_fields(_fields_of(root), f"{root}."), *_derived(root))


def _derived(root: str) -> Iterator[KnownFact]:
    for fact in _DERIVED.get(root, ()):
        yield KnownFact(f"{root}.{fact.path}", fact.type, fact.choices, fact.personal)


@cache
def _event_facts(fact_type: str) -> tuple[KnownFact, ...]:
    noun = NOUN_OF_TYPE[fact_type]
    fields = noun.fields_of(fact_type)
    told = tuple(facts_of_fields(fields, "event."))
    before = tuple(facts_of_fields(noun.fields, "event.before."))
    names = tuple(fact.path.removeprefix("event.before.") for fact in before)
    changed = KnownFact("event.changed", ValueType.TEXTS, names)
    return (*told, *before, changed, *_derived("event"))
