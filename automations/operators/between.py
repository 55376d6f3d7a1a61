"""The operator `between`."""

from __future__ import annotations

from automations.comparisons import Test, within
from automations.operators import TwoValues, operators
from automations.value_types import ORDERED, KnownFact


@operators.register("between")
class Between(TwoValues):
    """True if the fact lies from the first value to the second, both included.

    Clock times may wrap midnight: `between 22:00 and 06:00` is the night.

    Example: `booking.start_time between 09:00 and 17:00`
    """

    SPELLINGS = ("is between",)
    TYPES = ORDERED

    def test(self, fact: KnownFact) -> Test:
        """Return the test for lying within the span."""
        return within(fact, *self.value)
