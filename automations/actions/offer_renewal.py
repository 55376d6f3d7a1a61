"""The action `offer_renewal`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from automations.actions import Action, actions
from automations.fact_catalogue import FactCatalogue
from automations.ports import FactSource
from automations.resolving import Resolver
from automations.setting_kinds import Written
from domain.commands import OfferRenewal as OfferRenewalCommand
from domain.errors import Mistake


@actions.register("offer_renewal")
class OfferRenewal(Action):
    """Offers the entity's member to go on with a subscription: of the same plan, unless `plan` names another.

    `text` is what the member reads beside the offer. The rule's trigger has to be about subscriptions.

    Example: `offer_renewal: {text: "Your {{ subscription.plan }} ends on {{ subscription.ends_on | date }}"}`
    """

    OPERATION = OfferRenewalCommand.OPERATION

    plan: Written | None = None
    text: Written | None = None

    def command(self, facts: FactSource, at: datetime) -> OfferRenewalCommand:
        """Return the order to make the offer."""
        resolve = Resolver(facts, at)
        return OfferRenewalCommand(
            entity=resolve.entity,
            member_id=resolve.member(None),
            plan=None if self.plan is None else resolve.name("plan", self.plan),
            text=resolve.long_text("text", self.text),
        )

    def check(self, settings: Mapping[str, Any], catalogue: FactCatalogue) -> Iterable[Mistake]:
        """Return that the trigger is about something else."""
        about = catalogue.roots[0]
        if about != "subscription":
            yield Mistake((), f"a renewal is of a subscription, but this trigger is about: {about}")
