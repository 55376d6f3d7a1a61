"""The operator `starts with`."""

from __future__ import annotations

from automations.comparisons import Test, starting
from automations.operators import OneValue, operators
from automations.value_types import WORDED, KnownFact


@operators.register("starts with")
class StartsWith(OneValue):
    """True if the text begins with the value, letter by letter.

    Example: `invoice.number starts with "2026-"`
    """

    SPELLINGS = ("begins with",)
    TYPES = WORDED

    def test(self, fact: KnownFact) -> Test:
        """Return the test for the beginning of a text."""
        return starting(fact, self.value)
