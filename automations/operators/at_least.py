"""The operator `at least`."""

from __future__ import annotations

import operator

from automations.comparisons import Test, ordered
from automations.operators import OneValue, operators
from automations.value_types import ORDERED, KnownFact


@operators.register("at least")
class AtLeast(OneValue):
    """True if the fact is the value or more.

    Example: `booking.attendees at least 2`
    """

    SPELLINGS = (">=", "is at least")
    TYPES = ORDERED

    def test(self, fact: KnownFact) -> Test:
        """Return the test for being as much or more."""
        return ordered(fact, self.value, operator.ge)
