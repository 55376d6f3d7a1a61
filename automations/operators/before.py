"""The operator `before`."""

from __future__ import annotations

import operator

from automations.comparisons import Test, ordered
from automations.operators import OneValue, operators
from automations.value_types import TIMELY, KnownFact


@operators.register("before")
class Before(OneValue):
    """True if the fact is earlier than the value; the same is not.

    An instant is compared with a date by its local day in the space, and with a clock time by its local time.

    Example: `booking.start_time before 09:00`
    """

    SPELLINGS = ("is before", "earlier than")
    TYPES = TIMELY

    def test(self, fact: KnownFact) -> Test:
        """Return the test for being earlier."""
        return ordered(fact, self.value, operator.lt)
