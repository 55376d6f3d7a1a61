"""The stored form of conditions: a tree of leaves `{fact, operator, value}` in groups `all`, `any` and `not`.

It is what a rule's versions record. What the operators mean, and the sentences people write, are the
business of automations; here a tree is only read, written and bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator

from domain.errors import InvalidInput, Mistake

Scalar = str | int | float | bool
"""One value of a rule: text, a number or yes/no. Money, dates and times are text in their written form."""

Value = Scalar | tuple[Scalar, ...] | None
"""A leaf's value: one, several (`in`, `between`), or none (`is empty`)."""

DEEPEST = 10
"""Groups within groups; nobody can read more."""

MOST_LEAVES = 200
"""Leaves in one tree."""

LONGEST_VALUE = 1_000
"""Characters of one text value."""

MOST_VALUES = 200
"""Values in one list."""

LARGEST_NUMBER = 10**15
"""Up to here a number with two decimals survives JSON exactly."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One comparison of a fact with a value."""

    fact: str
    operator: str
    value: Value = None


@dataclass(frozen=True, slots=True)
class AllOf:
    """True if every part is."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """True if at least one part is."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """True if its part is false; unknown stays unknown."""

    part: Tree


Tree = Leaf | AllOf | AnyOf | Not
"""A condition."""


def leaves(tree: Tree) -> Iterator[Leaf]:
    """Return the leaves in the order written."""
    match tree:
        case Leaf():
            yield tree
        case Not(part):
            yield from leaves(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)


def stored(tree: Tree) -> dict[str, Any]:
    """Return the JSON form of a tree."""
    match tree:
        case Leaf(fact, operator, value):
            form: dict[str, Any] = {"fact": fact, "operator": operator}
            return form if value is None else {**form, "value": _listed(value)}
        case Not(part):
            return {"not": stored(part)}
        case AllOf(parts):
            return {"all": [stored(part) for part in parts]}
        case AnyOf(parts):
            return {"any": [stored(part) for part in parts]}


def _listed(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


def tree_of(form: object) -> Tree:
    """Return the tree that `stored` wrote; anything else is refused."""
    tree = _read(form, 0)
    if sum(1 for _ in leaves(tree)) > MOST_LEAVES:
        raise InvalidInput(f"a rule has at most {MOST_LEAVES} conditions")
    return tree


def _read(form: object, depth: int) -> Tree:
    if isinstance(form, (Leaf, AllOf, AnyOf, Not)):
        return form
    if depth > DEEPEST:
        raise InvalidInput(f"conditions nest at most {DEEPEST} groups deep")
    match form:
        case {"fact": str(fact), "operator": str(operator), **rest} if rest.keys() <= {"value"}:
            return Leaf(fact, operator, value_of(rest.get("value")))
        case {"not": inner, **rest} if not rest:
            return Not(_read(inner, depth + 1))
        case {"all": [_, *_] as parts, **rest} if not rest:
            return AllOf(tuple(_read(part, depth + 1) for part in parts))
        case {"any": [_, *_] as parts, **rest} if not rest:
            return AnyOf(tuple(_read(part, depth + 1) for part in parts))
    raise InvalidInput("a condition is {fact, operator, value}, or a group all, any or not")


def value_of(value: object) -> Value:
    """Return a leaf's value, or refuse what cannot be compared or is beyond all measure."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)):
        return scalar_of(value)
    if len(value) > MOST_VALUES:
        raise InvalidInput(f"a list holds at most {MOST_VALUES} values")
    return tuple(_scalar_at(index, item) for index, item in enumerate(value))


def _scalar_at(index: int, item: object) -> Scalar:
    try:
        return scalar_of(item)
    except InvalidInput as error:
        raise InvalidInput([Mistake((index, *fault.path), fault.message) for fault in error.mistakes]) from None


def scalar_of(value: object) -> Scalar:
    """Return one value of a rule, or say why it cannot be one."""
    match value:
        case bool():
            return value
        case str():
            return _bounded_text(value)
        case int() | float():
            if not abs(value) <= LARGEST_NUMBER:  # so that NaN is refused as well
                raise InvalidInput("this number is too large to compare with")
            return value
    raise InvalidInput(f"a value is text, a number or yes/no, not {type(value).__name__}")


def _bounded_text(text: str) -> str:
    if len(text) > LONGEST_VALUE:
        raise InvalidInput(f"a value has at most {LONGEST_VALUE} characters, this one has {len(text)}")
    for character in text:
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise InvalidInput(f"holds the character U+{ord(character):04X}, which cannot be stored")
    return text


def _validated(form: object) -> Tree:
    try:
        return tree_of(form)
    except InvalidInput as error:
        raise ValueError(str(error)) from None


Condition = Annotated[Tree, PlainValidator(_validated), PlainSerializer(stored)]
"""A tree as a field of a pydantic model, in its JSON form when it is stored."""
