"""The action `call_webhook`."""

from __future__ import annotations

from datetime import datetime

from automations.actions import Action, actions
from automations.ports import FactSource
from automations.resolving import Resolver
from automations.setting_kinds import Address, Structure
from domain.commands import CallWebhook as CallWebhookCommand


@actions.register("call_webhook")
class CallWebhook(Action):
    """Posts values to a web address of yours.

    `url` begins with `https://` or `http://` and a host; behind that it may be a template. `body` has the
    values that are sent as JSON, in which each text is a template.

    Example: `call_webhook: {url: "https://example.org/hook", body: {booking: "{{ booking.booking_id }}"}}`
    """

    OPERATION = CallWebhookCommand.OPERATION

    url: Address
    body: Structure = {}

    def command(self, facts: FactSource, at: datetime) -> CallWebhookCommand:
        """Return the order to call."""
        resolve = Resolver(facts, at)
        return CallWebhookCommand(
            entity=resolve.entity,
            member_id=resolve.entity_member,
            url=resolve.address("url", self.url),
            body=resolve.structure("body", self.body, ""),
        )
