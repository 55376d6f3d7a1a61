"""The action `revoke_access`."""

from __future__ import annotations

from datetime import datetime

from automations.actions import Action, actions
from automations.ports import FactSource
from automations.resolving import Resolver
from automations.setting_kinds import OtherMember, Written
from domain.commands import RevokeAccess as RevokeAccessCommand


@actions.register("revoke_access")
class RevokeAccess(Action):
    """Withdraws what was granted to the entity's member, or to the `member` that is named, for a door.

    Only what was granted on account of the same entity is withdrawn: what another booking grants stays. It
    is done as well where nothing was granted.

    Example: `revoke_access: {door: "{{ resource.door }}"}`
    """

    OPERATION = RevokeAccessCommand.OPERATION

    door: Written
    member: OtherMember | None = None

    def command(self, facts: FactSource, at: datetime) -> RevokeAccessCommand:
        """Return the order to withdraw access."""
        resolve = Resolver(facts, at)
        return RevokeAccessCommand(
            entity=resolve.entity,
            member_id=resolve.member(self.member),
            door=resolve.name("door", self.door),
        )
