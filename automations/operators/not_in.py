"""The operator `not in`."""

from __future__ import annotations

from automations.comparisons import Test, negated, one_of
from automations.operators import SomeValues, operators
from automations.value_types import SINGLE, KnownFact


@operators.register("not in")
class NotIn(SomeValues):
    """True if the fact has a value and it is none of these. A missing fact is unknown.

    Example: `resource.kind not in [desk, phone_booth]`
    """

    SPELLINGS = ("is not in", "is not one of", "not one of")
    TYPES = SINGLE

    def test(self, fact: KnownFact) -> Test:
        """Return the test for being none of the values."""
        return negated(one_of(fact, self.value))
