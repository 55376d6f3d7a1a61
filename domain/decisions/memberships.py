"""Memberships: offers to go on with a subscription."""

from __future__ import annotations

from domain.commands import OfferRenewal
from domain.decisions import (
    Decided,
    Ground,
    Operation,
    as_data,
    id_made_of,
    made_by_key,
    refusal_about_member,
)
from domain.endings import Refused
from domain.ids import id_of, kind_of


def offer_renewal(command: OfferRenewal, key: str, ground: Ground) -> Decided | Refused:
    """Decide on an offer for the subscription of the command: of its own plan, unless another is named."""
    refused = _refusal_of(command, ground) or refusal_about_member(command, ground)
    if refused:
        return refused
    data = as_data(
        renewal_id=id_made_of("renewal", key),
        subscription_id=id_of(command.entity),
        member_id=command.member_id,
        plan=command.plan or ground.find(command.entity).get("plan"),
        text=command.text,
    )
    return Decided("renewal.offered", data)


def _refusal_of(command: OfferRenewal, ground: Ground) -> Refused | None:
    if kind_of(command.entity) != "subscription":
        reason = f"a renewal is offered for a subscription, and {command.entity} is none"
        return Refused(reason=reason, at_fault="rule")
    if ground.find(command.entity).get("status") == "cancelled":
        return Refused(reason=f"{command.entity} has been cancelled")
    return None


OPERATIONS = (Operation(OfferRenewal, made_by_key("renewal"), offer_renewal, ("renewal_id",)),)
