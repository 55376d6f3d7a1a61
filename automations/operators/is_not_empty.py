"""The operator `is not empty`."""

from __future__ import annotations

from automations.comparisons import Test, is_empty, negated
from automations.operators import Operator, operators
from automations.value_types import KnownFact


@operators.register("is not empty")
class IsNotEmpty(Operator):
    """True if the fact is there and holds something; never unknown.

    Example: `booking.series_id is not empty`
    """

    ANSWERS_MISSING = True

    def test(self, fact: KnownFact) -> Test:
        """Return the test for something being there."""
        return negated(is_empty)
