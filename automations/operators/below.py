"""The operator `below`."""

from __future__ import annotations

import operator

from automations.comparisons import Test, ordered
from automations.operators import OneValue, operators
from automations.value_types import ORDERED, KnownFact


@operators.register("below")
class Below(OneValue):
    """True if the fact is less than the value; an equal one is not.

    Example: `booking.duration below 2 hours`
    """

    SPELLINGS = ("<", "is below", "less than", "is less than")
    TYPES = ORDERED

    def test(self, fact: KnownFact) -> Test:
        """Return the test for being less."""
        return ordered(fact, self.value, operator.lt)
