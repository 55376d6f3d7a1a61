"""The operator `at most`."""

from __future__ import annotations

import operator

from automations.comparisons import Test, ordered
from automations.operators import OneValue, operators
from automations.value_types import ORDERED, KnownFact


@operators.register("at most")
class AtMost(OneValue):
    """True if the fact is the value or less.

    Example: `booking.attendees at most 8`
    """

    SPELLINGS = ("<=", "is at most")
    TYPES = ORDERED

    def test(self, fact: KnownFact) -> Test:
        """Return the test for being as much or less."""
        return ordered(fact, self.value, operator.le)
