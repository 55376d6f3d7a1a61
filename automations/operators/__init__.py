"""How a condition compares a fact with a value: one module for each operator.

An operator is a frozen model of its value, a docstring that becomes its manual page, and the method `test`.
Its registered name is what the stored form holds and what sentences say; `SPELLINGS` are read as the name.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from automations.comparisons import Test
from automations.registry import Registry
from automations.value_types import EVERY, KnownFact, ValueType
from domain.condition_tree import Scalar


class Takes(Enum):
    """How many values stand behind an operator."""

    NOTHING = auto()
    ONE = auto()
    PAIR = auto()
    LIST = auto()


class Operator(BaseModel):
    """A comparison without a value, such as `is empty`; the base of all others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    NAME: ClassVar[str]
    SPELLINGS: ClassVar[tuple[str, ...]] = ()
    TAKES: ClassVar[Takes] = Takes.NOTHING
    TYPES: ClassVar[frozenset[ValueType]] = EVERY
    ANSWERS_MISSING: ClassVar[bool] = False
    """Whether a missing fact is put to the test; otherwise the answer is unknown without asking."""

    def test(self, fact: KnownFact) -> Test:
        """Return the test of one fact's values; `ValueError` says why the rule's value does not fit it."""
        raise NotImplementedError


class OneValue(Operator):
    """A comparison with one value."""

    TAKES = Takes.ONE

    value: Scalar


class TwoValues(Operator):
    """A comparison with the ends of a span."""

    TAKES = Takes.PAIR

    value: tuple[Scalar, Scalar]


class SomeValues(Operator):
    """A comparison with each of several values."""

    TAKES = Takes.LIST

    value: tuple[Scalar, ...]


operators: Registry[Operator] = Registry("operator", __name__)
"""Every operator by its name."""
