"""The operator `contains`."""

from __future__ import annotations

from automations.comparisons import Test, containing
from automations.operators import OneValue, operators
from automations.value_types import WORDED, KnownFact, ValueType


@operators.register("contains")
class Contains(OneValue):
    """True if the value is one item of the list, or a part of the text. An empty list contains nothing.

    Example: `member.tags contains "vip"`
    """

    TYPES = WORDED | {ValueType.TEXTS}

    def test(self, fact: KnownFact) -> Test:
        """Return the test for holding the value."""
        return containing(fact, self.value)
