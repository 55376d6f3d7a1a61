"""The operator `is not`."""

from __future__ import annotations

from automations.comparisons import Test, equal, negated
from automations.operators import OneValue, operators
from automations.value_types import SINGLE, KnownFact


@operators.register("is not")
class IsNot(OneValue):
    """True if the fact has a value and it is another one.

    A missing fact is unknown, not different: a member without a company is not matched by
    `member.company is not Acme`. Ask `is empty` as well where these are meant too.

    Example: `booking.status is not pending`
    """

    SPELLINGS = ("!=", "<>")
    TYPES = SINGLE

    def test(self, fact: KnownFact) -> Test:
        """Return the test for being different."""
        return negated(equal(fact, self.value))
