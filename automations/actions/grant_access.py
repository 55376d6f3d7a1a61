"""The action `grant_access`."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from automations.actions import Action, actions
from automations.ports import FactSource
from automations.resolving import Resolver
from automations.setting_kinds import OtherMember, Written
from domain.commands import GrantAccess as GrantAccessCommand
from domain.relative_instants import RelativeInstant


@actions.register("grant_access")
class GrantAccess(Action):
    """Lets the entity's member, or the `member` that is named, open a door for some time.

    `from` and `until` are instants, such as `booking.starts_at` or `15 minutes before booking.starts_at`; a
    date lasts to its end. A grant belongs to the entity, the door and the member: a later one replaces it,
    so that it follows a booking that is moved.

    Example: `grant_access: {door: "{{ resource.door }}", from: booking.starts_at, until: booking.ends_at}`
    """

    OPERATION = GrantAccessCommand.OPERATION

    door: Written
    from_: RelativeInstant = Field(alias="from")
    until: RelativeInstant
    member: OtherMember | None = None

    def command(self, facts: FactSource, at: datetime) -> GrantAccessCommand:
        """Return the order to grant access."""
        resolve = Resolver(facts, at)
        return GrantAccessCommand(
            entity=resolve.entity,
            member_id=resolve.member(self.member),
            door=resolve.name("door", self.door),
            valid_from=resolve.instant("from", self.from_),
            valid_until=resolve.instant("until", self.until, as_limit=True),
        )
