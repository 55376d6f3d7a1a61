"""The operator `after`."""

from __future__ import annotations

import operator

from automations.comparisons import Test, ordered
from automations.operators import OneValue, operators
from automations.value_types import TIMELY, KnownFact


@operators.register("after")
class After(OneValue):
    """True if the fact is later than the value; the same is not. After a date means on a later day.

    Example: `booking.ends_at after 18:00`
    """

    SPELLINGS = ("is after", "later than")
    TYPES = TIMELY

    def test(self, fact: KnownFact) -> Test:
        """Return the test for being later."""
        return ordered(fact, self.value, operator.gt)
