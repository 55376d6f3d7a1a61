"""The action `issue_invoice`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from automations.actions import Action, actions
from automations.fact_catalogue import FactCatalogue
from automations.ports import FactSource
from automations.resolving import Resolver
from automations.setting_kinds import Amount, Days, OtherMember, Written, amount_mistakes
from domain.commands import IssueInvoice as IssueInvoiceCommand
from domain.errors import Mistake
from domain.offsets import Offset


@actions.register("issue_invoice")
class IssueInvoice(Action):
    """Issues an invoice to the entity's member, or to the `member` that is named.

    `total` is an amount, or a template that comes to one. The invoice is due `14 days` after the run unless
    `due` says otherwise. `text` says what it is for. The number is the next one of the space.

    Example: `issue_invoice: {total: "{{ booking.price }}", due: 7 days, text: "{{ resource.name }}"}`
    """

    OPERATION = IssueInvoiceCommand.OPERATION

    total: Amount
    due: Days = Offset.parse("14 days")
    text: Written | None = None
    member: OtherMember | None = None

    def command(self, facts: FactSource, at: datetime) -> IssueInvoiceCommand:
        """Return the order to issue the invoice."""
        resolve = Resolver(facts, at)
        return IssueInvoiceCommand(
            entity=resolve.entity,
            member_id=resolve.member(self.member),
            space_id=resolve.space(),
            total=resolve.money("total", self.total),
            due_on=resolve.day("due", self.due),
            text=resolve.long_text("text", self.text),
        )

    def check(self, settings: Mapping[str, Any], catalogue: FactCatalogue) -> Iterable[Mistake]:
        """Return that the total is taken from a fact that is no money, or that the space is not known."""
        yield from amount_mistakes("total", self.total, catalogue)
        if "space" not in catalogue.roots:
            yield Mistake((), "an invoice is issued by a space, and this trigger does not say which")
