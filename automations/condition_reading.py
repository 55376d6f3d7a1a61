"""Conditions as people write them, read into a tree and checked against the facts that exist.

A condition is a sentence, a mapping `{fact, operator, value}`, or a group `all`, `any`, `not`; a list means
all of its parts. Every mistake is kept with its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from automations.fact_catalogue import FactCatalogue, UnknownFact
from automations.mistakes import Mistakes, Path
from automations.operators import Operator, Takes, operators
from automations.registry import UnknownName
from automations.sentences import NoSentence, Sentence, operator_named, read_sentence
from automations.value_types import KnownFact, ValueType
from domain.condition_tree import DEEPEST, MOST_LEAVES, AllOf, AnyOf, Leaf, Not, Tree, leaves, value_of
from domain.errors import InvalidInput, Mistake
from domain.money import Money
from domain.text_values import shown

_LEAF_KEYS = ("fact", "operator", "value")
_GROUP_KEYS = ("all", "any", "not")


def read_condition(written: object, catalogue: FactCatalogue, path: Path, mistakes: Mistakes) -> Tree | None:
    """Return the tree that was written, or None with at least one mistake kept."""
    reader = _Reader(catalogue, mistakes)
    tree = reader.read(written, path, 0)
    if tree is not None and sum(1 for _ in leaves(tree)) > MOST_LEAVES:
        mistakes.add(path, f"a rule has at most {MOST_LEAVES} conditions")
        return None
    return tree


def check_tree(tree: Tree, catalogue: FactCatalogue) -> list[Mistake]:
    """Return what is wrong in a stored tree today, such as a fact that no longer exists."""
    mistakes = Mistakes()
    for leaf in leaves(tree):
        _check_leaf(leaf, catalogue, _Places((), {}), mistakes)
    return list(mistakes)


class _Places:
    """Where the parts of one leaf were written: its path, and for each part a path below it or an offset."""

    def __init__(self, path: Path, parts: Mapping[str, Path | int]) -> None:
        self.path, self.parts = path, parts

    def add(self, mistakes: Mistakes, part: str, message: str, below: Path = ()) -> None:
        """Keep a mistake about a part of the leaf."""
        place = self.parts.get(part, 0)
        if isinstance(place, int):
            mistakes.add(self.path, message, place)
        else:
            mistakes.add((*self.path, *place, *below), message)


class _Reader:
    def __init__(self, catalogue: FactCatalogue, mistakes: Mistakes) -> None:
        self.catalogue, self.mistakes = catalogue, mistakes

    def read(self, written: object, path: Path, depth: int) -> Tree | None:
        if depth > DEEPEST:
            self.mistakes.add(path, f"conditions nest at most {DEEPEST} groups deep")
            return None
        match written:
            case str():
                return self._sentence(written, path)
            case list():
                return self._several(AllOf, written, path, depth)
            case dict() if "fact" in written or "operator" in written:
                return self._leaf(written, path)
            case dict() if len(written) == 1 and next(iter(written)) in _GROUP_KEYS:
                return self._group(*next(iter(written.items())), path, depth)
            case dict():
                self._no_condition(written, path)
            case _:
                self.mistakes.add(path, f"a condition is a sentence or a group, not {shown(written)}")
        return None

    def _no_condition(self, written: dict[Any, Any], path: Path) -> None:
        if len(written) > 1 and set(written) & set(_GROUP_KEYS):
            self.mistakes.add(path, "a group has one key, all, any or not: write each group by itself")
            return
        for key in written:
            self.mistakes.unknown_key(path, key, (*_GROUP_KEYS, *_LEAF_KEYS))
        if not written:
            self.mistakes.add(path, "the condition is empty")

    def _group(self, kind: str, inner: object, path: Path, depth: int) -> Tree | None:
        below = (*path, kind)
        if kind == "not":
            part = self.read(inner, below, depth + 1)
            return None if part is None else Not(part)
        if not isinstance(inner, list):
            self.mistakes.add(below, f"{kind} is a list of conditions: begin each with a dash")
            return None
        return self._several(AllOf if kind == "all" else AnyOf, inner, below, depth)

    def _several(self, group: type[AllOf | AnyOf], parts: list[Any], path: Path, depth: int) -> Tree | None:
        if not parts:
            self.mistakes.add(path, "the group is empty: write at least one condition")
            return None
        if len(parts) > MOST_LEAVES:
            self.mistakes.add(path, f"a rule has at most {MOST_LEAVES} conditions")
            return None
        read = [self.read(part, (*path, index), depth + 1) for index, part in enumerate(parts)]
        kept = [tree for tree in read if tree is not None]
        return group(tuple(kept)) if len(kept) == len(parts) else None

    def _sentence(self, written: str, path: Path) -> Tree | None:
        try:
            read = read_sentence(written)
        except NoSentence as error:
            self.mistakes.add(path, str(error), error.offset)
            return None
        places = _Places(path, _offsets(read))
        return _check_leaf(read.leaf, self.catalogue, places, self.mistakes)

    def _leaf(self, written: dict[Any, Any], path: Path) -> Tree | None:
        before = len(self.mistakes)
        for key in written:
            if key not in _LEAF_KEYS:
                self.mistakes.unknown_key(path, key, _LEAF_KEYS)
        fact, operator = (self._text_of(written, key, path) for key in ("fact", "operator"))
        value = self._value(written.get("value"), (*path, "value"))
        if len(self.mistakes) > before:
            return None
        places = _Places(path, {key: (key,) for key in _LEAF_KEYS if key in written})
        return _check_leaf(Leaf(fact, operator, value), self.catalogue, places, self.mistakes)

    def _text_of(self, written: dict[Any, Any], key: str, path: Path) -> str:
        found = written.get(key)
        if isinstance(found, str):
            return found
        self.mistakes.add(
            (*path, key), f"{key!r} is missing" if found is None else f"{key} is text, not {shown(found)}"
        )
        return ""

    def _value(self, written: object, path: Path) -> Any:
        try:
            return value_of(_without_mappings(written))
        except InvalidInput as error:
            self.mistakes.extend(error.mistakes, path)
        except ValueError as error:
            self.mistakes.add(path, str(error))
        return None


def _offsets(read: Sentence) -> dict[str, Path | int]:
    return {"fact": read.fact_at, "operator": read.operator_at, "value": read.value_at}


def _without_mappings(written: object) -> object:
    """Return a value with money as text, which may also be written as an amount and a currency."""
    if isinstance(written, Mapping):
        return str(Money.read(written))
    if isinstance(written, list):
        return [_without_mappings(item) for item in written]
    return written


def _check_leaf(leaf: Leaf, catalogue: FactCatalogue, places: _Places, mistakes: Mistakes) -> Leaf | None:
    """Return the leaf with its operator's proper name, or None with its mistakes kept."""
    try:
        fact = catalogue.find(leaf.fact)
    except UnknownFact as error:
        places.add(mistakes, "fact", str(error))
        return None
    try:
        name = operator_named(leaf.operator)
    except UnknownName as error:
        places.add(mistakes, "operator", str(error))
        return None
    for part, message in _faults(name, fact, leaf):
        places.add(mistakes, part, message)
        return None
    return Leaf(leaf.fact, name, leaf.value)


def _faults(name: str, fact: KnownFact, leaf: Leaf) -> Iterator[tuple[str, str]]:
    plugin = operators[name]
    if fact.type not in plugin.TYPES:
        yield "operator", _unfit(name, fact)
        return
    fault = _wrong_number_of_values(name, plugin, leaf)
    if fault:
        yield "value", fault
        return
    try:
        operator_of(name, leaf).test(fact)
    except ValueError as error:
        yield "value", str(error)


def operator_of(name: str, leaf: Leaf) -> Operator:
    """Return the operator of a leaf with its value; `ValueError` if the value is not of its form."""
    settings = {} if leaf.value is None else {"value": leaf.value}
    try:
        return operators[name].model_validate(settings)
    except ValidationError as error:
        raise ValueError(f"{shown(leaf.value)} is no value for {name!r}: {error.errors()[0]['msg']}") from None


def _unfit(name: str, fact: KnownFact) -> str:
    fitting = ", ".join(other for other in operators if fact.type in operators[other].TYPES)
    hint = "use contains" if fact.type is ValueType.TEXTS and name in ("is", "in") else f"fitting are {fitting}"
    return f"{fact.path} is {fact.article}, which {name!r} cannot compare; {hint}"


def _wrong_number_of_values(name: str, plugin: type[Operator], leaf: Leaf) -> str | None:
    several = isinstance(leaf.value, tuple)
    match plugin.TAKES:
        case Takes.NOTHING if leaf.value is not None:
            return f"{name!r} takes no value"
        case Takes.ONE if leaf.value is None or several:
            return f"{name!r} takes one value"
        case Takes.PAIR if not several or len(leaf.value or ()) != 2:  # type: ignore[arg-type]
            return f"{name!r} takes a list of two values"
        case Takes.LIST if not several:
            return f"{name!r} takes a list of values"
    return None
