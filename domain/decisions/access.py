"""Access: a grant belongs to an entity, a door and a member; a later one replaces it."""

from __future__ import annotations

from domain.commands import GrantAccess, RevokeAccess
from domain.decisions import (
    Decided,
    Ground,
    Operation,
    as_data,
    id_made_of,
    refusal_about_member,
    refusal_without_member,
)
from domain.endings import Refused
from domain.ids import entity, id_of


def grant_of(command: GrantAccess | RevokeAccess, _key: str = "") -> str:
    """Return the one entity of whatever is granted for this entity, door and member."""
    return entity("access", id_made_of("access", command.entity, command.door, command.member_id))


def grant(command: GrantAccess, _key: str, ground: Ground) -> Decided | Refused:
    """Decide on a grant; it takes the place of an earlier one."""
    refused = refusal_about_member(command, ground) or _refusal_of_door(command) or _refusal_of_span(command)
    if refused:
        return refused
    return Decided(
        "access.granted",
        as_data(
            access_id=id_of(grant_of(command)),
            entity=command.entity,
            door=command.door,
            member_id=command.member_id,
            valid_from=command.valid_from,
            valid_until=command.valid_until,
        ),
    )


def revoke(command: RevokeAccess, _key: str, _ground: Ground) -> Decided | Refused:
    """Decide to withdraw what was granted for this entity, whether or not anything was.

    An erased member's is withdrawn as well. What was never granted is recorded as withdrawn, so that a
    repeat of this call cannot withdraw what is granted after it.
    """
    return (
        refusal_without_member(command)
        or _refusal_of_door(command)
        or Decided(
            "access.revoked",
            as_data(
                access_id=id_of(grant_of(command)),
                entity=command.entity,
                door=command.door,
                member_id=command.member_id,
            ),
        )
    )


def _refusal_of_door(command: GrantAccess | RevokeAccess) -> Refused | None:
    if command.door:
        return None
    return Refused(reason=f"no door is named for {command.entity}", at_fault="rule")


def _refusal_of_span(command: GrantAccess) -> Refused | None:
    if command.valid_until <= command.valid_from:
        start, end = command.valid_from.isoformat(), command.valid_until.isoformat()
        return Refused(reason=f"access from {start} would end before it begins, at {end}", at_fault="rule")
    return None


OPERATIONS = (
    Operation(GrantAccess, grant_of, grant, ("access_id",)),
    Operation(RevokeAccess, grant_of, revoke, ("access_id",)),
)
