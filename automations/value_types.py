"""The types of facts: what a value of each looks like in a rule, and how facts of it are told apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ValueType(StrEnum):
    """What kind of value a fact has; the names are those that messages use."""

    TEXT = "text"
    NUMBER = "number"
    MONEY = "money"
    INSTANT = "instant"
    DATE = "date"
    CLOCK = "clock time"
    DURATION = "duration"
    YES_NO = "yes/no"
    TEXTS = "list of texts"
    CHOICE = "choice"
    ANY = "any type"


ORDERED = frozenset(
    {
        ValueType.NUMBER,
        ValueType.MONEY,
        ValueType.INSTANT,
        ValueType.DATE,
        ValueType.CLOCK,
        ValueType.DURATION,
        ValueType.ANY,
    }
)
"""Types whose values can be less and more than each other."""

TIMELY = frozenset({ValueType.INSTANT, ValueType.DATE, ValueType.CLOCK, ValueType.ANY})
"""Types whose values can be before and after each other."""

SINGLE = frozenset(ValueType) - {ValueType.TEXTS}
"""Types whose values are one thing, which can be the same as another."""

WORDED = frozenset({ValueType.TEXT, ValueType.ANY})
"""Types whose values have a beginning and parts."""

EVERY = frozenset(ValueType)
"""All of them."""


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact that rules can name: its path, its type, and for a choice the values it can have.

    The `choices` of a list of texts are the only ones that it can hold; empty means any. A `personal` value
    is never kept in an event or a trace row.
    """

    path: str
    type: ValueType
    choices: tuple[str, ...] = ()
    personal: bool = False

    @property
    def article(self) -> str:
        """Return the type as a message says it: `a number`, `an instant`, `yes or no`."""
        if self.type is ValueType.YES_NO:
            return "yes or no"
        if self.type is ValueType.ANY:
            return "of any type"
        return f"an {self.type}" if self.type is ValueType.INSTANT else f"a {self.type}"


def anything(path: str) -> KnownFact:
    """Return a fact about whose type nothing is known."""
    return KnownFact(path, ValueType.ANY)
