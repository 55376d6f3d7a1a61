"""The operator `in`."""

from __future__ import annotations

from automations.comparisons import Test, one_of
from automations.operators import SomeValues, operators
from automations.value_types import SINGLE, KnownFact


@operators.register("in")
class In(SomeValues):
    """True if the fact is one of these values.

    Example: `booking.weekday in saturday, sunday`
    """

    SPELLINGS = ("is in", "is one of", "one of")
    TYPES = SINGLE

    def test(self, fact: KnownFact) -> Test:
        """Return the test for being one of the values."""
        return one_of(fact, self.value)
