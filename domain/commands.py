"""What services are asked to do: one frozen command for each operation of the contract.

Rules and staff send the same commands. Fields marked `Personal` are recorded by reference only.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, ClassVar

from domain.civil_time import Instant
from domain.fields import Fields, Personal, PersonalText, Text
from domain.ids import Id
from domain.money import Money


class Command(Fields, extra="forbid"):
    """One thing to do, on account of an entity, for a member (empty where nobody in particular is meant)."""

    OPERATION: ClassVar[str]

    entity: Text
    member_id: str = ""

    @property
    def service(self) -> str:
        """Return the name of the service that owns this operation."""
        return self.OPERATION.partition(".")[0]


def command_of(operation: str, values: dict[str, Any]) -> Command:
    """Return the command of an operation that was recorded with these values."""
    kinds = {kind.OPERATION: kind for kind in Command.__subclasses__()}
    return kinds[operation].model_validate(values)


class IssueInvoice(Command):
    """Issue an invoice to a member."""

    OPERATION = "billing.issue_invoice"

    space_id: Id
    total: Money
    due_on: date
    text: PersonalText | None = None


class ChargeFee(Command):
    """Put an item on a member's later invoice."""

    OPERATION = "billing.charge_fee"

    amount: Money
    reason: PersonalText


class GrantAccess(Command):
    """Let a member open a door from one instant until another; a later grant replaces an earlier one."""

    OPERATION = "access.grant"

    door: Text
    valid_from: Instant
    valid_until: Instant


class RevokeAccess(Command):
    """Withdraw what was granted for this entity, door and member."""

    OPERATION = "access.revoke"

    door: Text


class CreateTask(Command):
    """Give staff something to do."""

    OPERATION = "tasks.create"

    title: PersonalText
    due_at: datetime | None = None
    assignee: Text | None = None


class OfferRenewal(Command):
    """Offer a member to go on with a subscription; the entity is the subscription."""

    OPERATION = "memberships.offer_renewal"

    plan: Text | None = None
    text: PersonalText | None = None


class RequestNotification(Command):
    """Ask for somebody to be told: `member/m1` or `staff`; without `channels` the type says on which."""

    OPERATION = "notifications.request"

    to: Text
    type: Text
    channels: tuple[str, ...] = ()
    payload: Annotated[dict[str, Any], Personal()] = {}


class CallWebhook(Command):
    """Post to an address that the operator gave."""

    OPERATION = "webhook.call"

    url: Annotated[Text, Personal()]
    body: Annotated[dict[str, Any], Personal()] = {}
