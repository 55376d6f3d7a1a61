"""The operator `is empty`."""

from __future__ import annotations

from automations.comparisons import Test, is_empty
from automations.operators import Operator, operators
from automations.value_types import KnownFact


@operators.register("is empty")
class IsEmpty(Operator):
    """True if the fact is missing, a text without a letter, or a list without an item; never unknown.

    Example: `member.company is empty`
    """

    ANSWERS_MISSING = True

    def test(self, fact: KnownFact) -> Test:
        """Return the test for nothing being there."""
        return is_empty
