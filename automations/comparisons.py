"""The tests that operators are made of: each is made once for a fact and a value, and asked many times.

A test answers a fact's value with True, False, or a `Remark` that says why neither. It never raises.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from automations import fact_reading
from automations.fact_reading import Read, Remark, fault
from automations.literals import Literal, literal_of, text_of
from automations.value_types import KnownFact, ValueType
from automations.verdicts import Truth
from automations.written_values import number_in, yes_no_in
from domain.condition_tree import Scalar
from domain.text_values import shown

Test = Callable[[object], "bool | Remark"]
"""Answers one fact's value."""

Compare = Callable[[Any, Any], bool]


def equal(fact: KnownFact, value: Scalar) -> Test:
    """Return the test for a fact being exactly this value."""
    literal = literal_of(fact, value)
    if literal.guessed is not None:
        return _equal_by_looks(literal, literal.guessed)
    return _compared(literal.read, operator.eq, literal.value)


def _equal_by_looks(literal: Literal, text: str) -> Test:
    """Return the test for a value of any type, where the looks of a text say what it may be compared as.

    Two texts that cannot be read alike are just different; text and something else have to mean the same.
    """
    wanted, read = literal.value, literal.read
    number, flag = number_in(text), yes_no_in(text)

    def test(seen: object) -> bool | Remark:
        if isinstance(seen, bool) and flag is not None:
            return seen is flag
        if number is not None and not isinstance(seen, str):
            return _same(fact_reading.number(seen), number)
        answer = _same(read(seen), wanted)
        if isinstance(seen, str) and isinstance(answer, Remark) and answer.truth is Truth.FAULT:
            return bool(fact_reading.text(seen) == text)
        return answer

    return test


def _same(found: object, wanted: object) -> bool | Remark:
    return found if isinstance(found, Remark) else bool(found == wanted)


def negated(test: Test) -> Test:
    """Return the opposite test; what was neither true nor false stays so."""

    def opposite(seen: object) -> bool | Remark:
        answer = test(seen)
        return answer if isinstance(answer, Remark) else not answer

    return opposite


def one_of(fact: KnownFact, values: Sequence[Scalar]) -> Test:
    """Return the test for a fact being one of these values; a remark counts only where none is it."""
    if not values:
        raise ValueError("the list is empty: write at least one value")
    tests = [equal(fact, value) for value in values]

    def test(seen: object) -> bool | Remark:
        answers = [each(seen) for each in tests]
        if True in answers:
            return True
        remarks = [answer for answer in answers if isinstance(answer, Remark)]
        if not remarks:
            return False
        return next((remark for remark in remarks if remark.truth is Truth.FAULT), remarks[0])

    return test


def ordered(fact: KnownFact, value: Scalar, compare: Compare) -> Test:
    """Return the test for a fact standing in an order to this value, such as `operator.gt`."""
    literal = _with_order(fact, value)
    return _compared(literal.read, compare, literal.value)


def within(fact: KnownFact, low: Scalar, high: Scalar) -> Test:
    """Return the test for a fact lying from one value to another, both included.

    Clock times may wrap midnight.
    """
    first, last = _with_order(fact, low), _with_order(fact, high)
    if first.form != last.form:
        raise ValueError(f"{shown(low)} is {_a(first.form)} and {shown(high)} {_a(last.form)}: write both alike")
    start: Any = first.value
    end: Any = last.value
    if start <= end:
        return _compared(first.read, lambda found, span: span[0] <= found <= span[1], (start, end))
    if first.form != "clock time":
        raise ValueError(f"nothing lies between {shown(low)} and {shown(high)}: write the lower value first")
    return _compared(first.read, lambda found, span: found >= span[0] or found <= span[1], (start, end))


def _a(form: str) -> str:
    return f"an {form}" if form.startswith(("a", "i")) else f"a {form}"


def _compared(read: Read, compare: Compare, wanted: object) -> Test:
    def test(seen: object) -> bool | Remark:
        found = read(seen)
        return found if isinstance(found, Remark) else compare(found, wanted)

    return test


def _with_order(fact: KnownFact, value: Scalar) -> Literal:
    literal = literal_of(fact, value)
    if literal.form != "text":
        return literal
    number = number_in(text_of(value))
    if number is None:
        raise ValueError(f"{shown(value)} has no order: write a number, an amount, a date, a time or a duration")
    return Literal(number, fact_reading.number, "number")


def containing(fact: KnownFact, value: Scalar) -> Test:
    """Return the test for a list holding this text, or for a text having it as a part."""
    part = _some_text(literal_of(fact, value).value if fact.type is ValueType.TEXTS else value, "contain")

    def test(seen: object) -> bool | Remark:
        if isinstance(seen, str):
            return part in str(fact_reading.text(seen))
        found: Any = fact_reading.items(seen)
        return found if isinstance(found, Remark) else part in found

    return test


def starting(fact: KnownFact, value: Scalar) -> Test:
    """Return the test for a text beginning with this one."""
    start = _some_text(value, "start with")

    def test(seen: object) -> bool | Remark:
        if not isinstance(seen, str):
            return fault(seen, "text")
        return str(fact_reading.text(seen)).startswith(start)

    return test


def _some_text(value: Any, verb: str) -> str:
    text = text_of(value)
    if not text:
        raise ValueError(f"every text does {verb} nothing: write at least one letter")
    return text


def is_empty(seen: object) -> bool | Remark:
    """Say whether nothing is there: a missing fact, a blank text, an empty list."""
    if seen is None:
        return True
    if isinstance(seen, str):
        return not seen.strip()
    return isinstance(seen, (tuple, list, dict)) and not seen
