"""What a condition says about the facts: true, false, unknown or at fault, with a reason for every leaf."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from domain.condition_tree import Value
from domain.money import Money

LONGEST_SEEN = 200
"""Characters, and items of a list, that a reason keeps of a value."""


class Truth(StrEnum):
    """The answer of a condition; only `TRUE` matches, and a fault is never a silent `FALSE`."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"
    FAULT = "fault"


_TRUE = Truth.TRUE


class Reason(NamedTuple):
    """What one leaf saw and said; a named tuple, since one is made for every leaf of every candidate.

    `value` is the rule's value, `seen` the fact's, in JSON form and cut to a bounded length. A personal
    value is not kept: `reference` says where it lies.
    """

    fact: str
    operator: str
    value: Value
    seen: Any
    verdict: Truth
    note: str = ""
    reference: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the compact JSON form: what is empty is left out."""
        form: dict[str, Any] = {"fact": self.fact, "operator": self.operator, "verdict": str(self.verdict)}
        if self.value is not None:
            form["value"] = list(self.value) if isinstance(self.value, tuple) else self.value
        if self.seen is not None:
            form["seen"] = self.seen
        if self.note:
            form["note"] = self.note
        if self.reference is not None:
            form["reference"] = self.reference
        return form

    @classmethod
    def from_json(cls, form: dict[str, Any]) -> Reason:
        """Return the reason that `to_json` wrote."""
        value = form.get("value")
        return cls(
            fact=form["fact"],
            operator=form["operator"],
            value=tuple(value) if isinstance(value, list) else value,
            seen=form.get("seen"),
            verdict=Truth(form["verdict"]),
            note=form.get("note", ""),
            reference=form.get("reference"),
        )


class Verdict(NamedTuple):
    """The answer of a whole condition tree, and a reason for each of its leaves in the order written.

    A named tuple, since one is made for every candidate. `decisive` is the first leaf that made the answer what
    it is; None only where there are no leaves.
    """

    truth: Truth
    reasons: tuple[Reason, ...] = ()
    decisive: Reason | None = None

    @property
    def matches(self) -> bool:
        """Say whether the candidate may run."""
        return self.truth is _TRUE

    @property
    def failed(self) -> Reason | None:
        """Return the first leaf that kept the candidate from running, or None if it matches."""
        return None if self.matches else self.decisive


NO_CONDITION = Verdict(Truth.TRUE)
"""The verdict of a rule without conditions."""


def seen_as_json(value: object) -> Any:
    """Return a fact's value as JSON that a reason can keep."""
    if type(value) is str and len(value) <= LONGEST_SEEN:
        return value
    return _AS_JSON.get(type(value), _clipped)(value)


def _clipped(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_SEEN else f"{text[:LONGEST_SEEN]}…"


def _clipped_list(values: Any) -> list[Any]:
    return [seen_as_json(value) for value in values[:LONGEST_SEEN]]


def _itself(value: object) -> object:
    return value


def _decimal(value: Any) -> str:
    return _clipped(format(value, "f") if value.is_finite() and -100 < value.adjusted() < 100 else value)


def _iso(value: Any) -> str:
    return str(value.isoformat())


def _whole(value: Any) -> Any:
    # JSON readers in other languages keep 53 bits; larger numbers are kept as text.
    return value if -(2**53) < value < 2**53 else f"a number of {value.bit_length()} bits"


_AS_JSON: dict[type, Callable[[Any], Any]] = {
    type(None): _itself,
    str: _clipped,
    bool: _itself,
    int: _whole,
    Decimal: _decimal,
    Money: _clipped,
    datetime: _iso,
    date: _iso,
    time: _iso,
    timedelta: _clipped,
    tuple: _clipped_list,
    list: _clipped_list,
}
