"""Whether a delivery may be sent now: the same questions, in the same order, right before each call.

Each check returns why the delivery ends without a call, or None to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Literal

from automations.notifications.channels import ADDRESS_FIELDS, WITHOUT_ADDRESS
from automations.recheck import Look, recheck
from automations.situation import Situation, World
from domain.deliveries import Delivery, DeliveryPending
from domain.executions import Execution
from domain.facts import Entity, PersonalRef
from domain.ids import id_of, kind_of
from domain.notifications import STAFF
from domain.nouns import NOUNS
from domain.reminder_calendar import why_not_due


@dataclass(frozen=True, slots=True)
class Halt:
    """The state in which a delivery ends without a call, and why."""

    state: Literal["cancelled", "skipped", "expired"]
    reason: str


@dataclass(frozen=True)
class Case:
    """A delivery and everything that decides about it, no older than the log's head.

    `execution` is the one that asked for it, with what its re-check sees; both are None where none did.
    """

    delivery: Delivery
    at: datetime
    world: World
    execution: Execution | None = None
    look: Look | None = None

    @property
    def asked(self) -> DeliveryPending:
        """Return what is to be delivered."""
        return self.delivery.asked

    @cached_property
    def situation(self) -> Situation | None:
        """Return the facts about the entity, or None where the notification is about none."""
        if kind_of(self.asked.entity) not in NOUNS:
            return None
        if self.execution is not None and self.look is not None:
            return self.look.situation(self.execution, self.at)
        return self.world.situation(self.asked.entity, self.at)

    @cached_property
    def recipient(self) -> Entity | None:
        """Return the member who is told, or None for `staff`."""
        return None if self.asked.to == STAFF else self.world.entities.get(self.asked.to)

    @cached_property
    def address(self) -> str | None:
        """Return what the channel speaks to, or None where that is not known."""
        if self.asked.channel in WITHOUT_ADDRESS:
            return self.asked.to
        field = ADDRESS_FIELDS.get(self.asked.channel)
        value = self.recipient.get(field) if field is not None and self.recipient is not None else None
        if isinstance(value, PersonalRef):
            value = self.world.personal.read(value)
        return str(value) if value else None


Check = Callable[[Case], Halt | None]


def halted(case: Case) -> Halt | None:
    """Return why a delivery must not be sent now, or None if it may."""
    return next((halt for check in CHECKS if (halt := check(case)) is not None), None)


def _of_somebody_erased(case: Case) -> Halt | None:
    erased = case.recipient is not None and case.recipient.get("erased")
    return Halt("cancelled", "member erased") if erased else None


def _of_a_reminder_that_moved(case: Case) -> Halt | None:
    """Return that a reminder was completed, snoozed, changed or cancelled, in its own words."""
    run, facts = case.execution, case.situation
    if run is None or facts is None or facts.root.noun.kind != "reminder" or run.claim.origin == "staff":
        return None
    occasion, due = run.claim.occasion, run.occurrence.due
    reason = why_not_due(facts.root, facts.zone, run.occurrence.event_date, occasion=occasion, due=due)
    return Halt("cancelled", reason) if reason else None


def _of_a_rule_that_no_longer_matches(case: Case) -> Halt | None:
    if case.execution is None or case.look is None or case.situation is None:
        return None
    attempt = replace(case.execution, attempt=case.delivery.attempts + 1)
    stop = recheck(attempt, case.look, case.situation, case.at)
    return Halt("cancelled", stop.reason) if stop is not None else None


def _on_a_channel_switched_off(case: Case) -> Halt | None:
    """Return that a reminder is no longer told on this channel; one that names none is told by its type."""
    root = case.situation.root if case.situation is not None else None
    if root is None or root.noun.kind != "reminder" or id_of(case.asked.to) != root.get("member_id"):
        return None
    channels = root.get("channels")
    off = channels is not None and case.asked.channel not in channels
    return Halt("cancelled", "channel switched off") if off else None


def _without_an_address(case: Case) -> Halt | None:
    return Halt("skipped", f"no address for {case.asked.channel}") if case.address is None else None


def _too_late(case: Case) -> Halt | None:
    if case.at < case.asked.expires_at:
        return None
    return Halt("expired", f"it was of use until {case.asked.expires_at:%Y-%m-%d %H:%M:%S} UTC")


CHECKS: tuple[Check, ...] = (
    _of_somebody_erased,
    _of_a_reminder_that_moved,
    _of_a_rule_that_no_longer_matches,
    _on_a_channel_switched_off,
    _without_an_address,
    _too_late,
)
"""What is asked, in this order: the first answer counts."""
