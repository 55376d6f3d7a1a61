"""The operator `above`."""

from __future__ import annotations

import operator

from automations.comparisons import Test, ordered
from automations.operators import OneValue, operators
from automations.value_types import ORDERED, KnownFact


@operators.register("above")
class Above(OneValue):
    """True if the fact is greater than the value; an equal one is not.

    Amounts compare within one currency only, exactly; another currency is not comparable: no match.

    Example: `invoice.total above 100 EUR`
    """

    SPELLINGS = (">", "is above", "more than", "is more than")
    TYPES = ORDERED

    def test(self, fact: KnownFact) -> Test:
        """Return the test for being greater."""
        return ordered(fact, self.value, operator.gt)
