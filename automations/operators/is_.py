"""The operator `is`."""

from __future__ import annotations

from automations.comparisons import Test, equal
from automations.operators import OneValue, operators
from automations.value_types import SINGLE, KnownFact


@operators.register("is")
class Is(OneValue):
    """True if the fact is exactly this value.

    Numbers and amounts compare by value (`2` is `2.00`), texts letter by letter, an instant with a date by
    its local day. An amount in another currency is not comparable: no match.

    Example: `resource.kind is meeting_room`
    """

    SPELLINGS = ("=", "==")
    TYPES = SINGLE

    def test(self, fact: KnownFact) -> Test:
        """Return the test for equality."""
        return equal(fact, self.value)
