"""The action `charge_fee`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from automations.actions import Action, actions
from automations.fact_catalogue import FactCatalogue
from automations.ports import FactSource
from automations.resolving import Resolver
from automations.setting_kinds import Amount, Written, amount_mistakes
from domain.commands import ChargeFee as ChargeFeeCommand
from domain.errors import Mistake


@actions.register("charge_fee")
class ChargeFee(Action):
    """Charges the entity's member a fee: an item for a later invoice, never an invoice of its own.

    `amount` is an amount, or a template that comes to one; `reason` is what the member reads. A rule on
    something that can happen again and again charges each time, unless it acts `once: entity`.

    Example: `charge_fee: {amount: 15 EUR, reason: "No-show on {{ booking.starts_at | date }}"}`
    """

    OPERATION = ChargeFeeCommand.OPERATION

    amount: Amount
    reason: Written

    def command(self, facts: FactSource, at: datetime) -> ChargeFeeCommand:
        """Return the order to charge the fee."""
        resolve = Resolver(facts, at)
        return ChargeFeeCommand(
            entity=resolve.entity,
            member_id=resolve.member(None),
            amount=resolve.money("amount", self.amount),
            reason=resolve.text("reason", self.reason),
        )

    def check(self, settings: Mapping[str, Any], catalogue: FactCatalogue) -> Iterable[Mistake]:
        """Return that the amount is taken from a fact that is no money."""
        return amount_mistakes("amount", self.amount, catalogue)
