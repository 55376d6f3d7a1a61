"""Whether a delivery may be sent now: the same questions, in the same order, when it begins and before each call.

Each check returns why the delivery ends without a call, or has to wait, or None to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Literal, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from automations.notifications.channels import ADDRESS_FIELDS, WITHOUT_ADDRESS
from automations.notifications.decisions import Halt, Hold
from automations.recheck import Look, recheck
from automations.situation import Situation, World
from domain.civil_time import end_of_date, zone
from domain.deliveries import Delivery, DeliveryPending
from domain.devices import Device
from domain.executions import Execution
from domain.facts import Entity, PersonalRef
from domain.ids import entity, id_of, kind_of
from domain.notifications import STAFF
from domain.nouns import NOUNS
from domain.places import space_of
from domain.preferences import Preferences, preferences_stream
from domain.quiet_hours import QuietWindow
from domain.reminder_calendar import why_not_due
from domain.spaces import QuietHours
from domain.suppressions import Suppressions


class _Everything:
    """Holds every text."""

    def __contains__(self, item: object) -> bool:
        return True


EVERYTHING = _Everything()
NOTHING_PREFERRED = Preferences(preferences_stream(""))
NOTHING_SUPPRESSED = Suppressions
SILENT = frozenset({"in_app"})
"""Channels that make no noise, so that quiet hours are nothing to them."""


class Quiet(NamedTuple):
    """The quiet hours that hold for a recipient, whose they are, and the zone whose clocks count."""

    hours: QuietHours
    hours_of: Literal["recipient", "space"]
    zone: ZoneInfo
    zone_of: Literal["recipient", "space", "operator"]


@dataclass(frozen=True)
class Case:
    """A delivery and everything that decides about it, no older than the log's head.

    `execution` is the one that asked for it, with what its re-check sees; both are None where none did.
    `preferences` are those of the recipient, `suppressions` what is against an address on the channel of the
    delivery. `channels` are those that there are, `device` is the one that the delivery goes to, if it goes to
    one, and `sender` whom the message is from, where that is known.
    """

    delivery: Delivery
    at: datetime
    world: World
    execution: Execution | None = None
    look: Look | None = None
    preferences: Preferences = NOTHING_PREFERRED
    suppressions: Callable[[str], Suppressions] = NOTHING_SUPPRESSED
    channels: Container[str] = EVERYTHING
    device: Device | None = None
    sender: str = ""

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
        if is_device(self.asked.address):
            return subscription_of(self.device, self.asked.to, self.world)
        return address_of(self.asked.to, self.asked.channel, self.world)

    @cached_property
    def space(self) -> Entity | None:
        """Return the space of what the notification is about, or None where that is not known."""
        return None if self.situation is None else space_of(self.situation.root, self.world.entities.get)

    @cached_property
    def quiet(self) -> Quiet | None:
        """Return the quiet hours that hold for the recipient, or None where there are none."""
        hours, hours_of = _hours(self)
        return None if hours is None else Quiet(hours, hours_of, *_zone(self))

    @cached_property
    def quiet_until(self) -> datetime:
        """Return the first instant from now on that is not quiet, which may be this one."""
        if self.quiet is None or self.asked.channel in SILENT:
            return self.at
        return QuietWindow.of(self.quiet.hours, self.quiet.zone).over_at(self.at)

    @cached_property
    def expires_at(self) -> datetime:
        """Return from when on it is of no use: as its type's fact says now, or else as it was when it began."""
        path, facts = self.asked.useful_until, self.situation
        value = facts.value(path) if path and facts is not None else None
        if isinstance(value, datetime):
            return value
        if isinstance(value, date) and facts is not None:
            return end_of_date(value, facts.zone)
        return self.asked.expires_at


class View(Protocol):
    """What a check sees of several deliveries, no older than the head of the log."""

    def case(self, delivery: Delivery, at: datetime) -> Case:
        """Return everything that decides about one delivery."""
        ...


def address_of(to: str, channel: str, world: World) -> str | None:
    """Return what a channel speaks to when somebody is told, or None where that is not known."""
    if channel in WITHOUT_ADDRESS:
        return to
    field = ADDRESS_FIELDS.get(channel)
    value = world.entities.get(to).get(field) if field is not None and to != STAFF else None
    if isinstance(value, PersonalRef):
        value = world.personal.read(value)
    return str(value) if value else None


def is_device(address: str) -> bool:
    """Say whether a delivery goes to a device, and not just to somebody."""
    return kind_of(address) == "device"


def subscription_of(device: Device | None, to: str, world: World) -> str | None:
    """Return what a push service gave the device of somebody, or None where pushes no longer go there."""
    if device is None or not device.is_reachable or entity("member", device.member) != to:
        return None
    value = world.personal.read(PersonalRef(device.member, device.subscription))
    return str(value) if value else None


Check = Callable[[Case], Halt | Hold | None]


def decided(case: Case) -> Halt | Hold | None:
    """Return why a delivery must not be sent now, or None if it may."""
    for check in CHECKS:
        halt = check(case)
        if halt is not None:
            return halt
    return None


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


def _on_no_channel(case: Case) -> Halt | None:
    channel = case.asked.channel
    return None if channel in case.channels else Halt("skipped", f"there is no channel {channel}", unreachable=True)


def _not_wanted(case: Case) -> Halt | None:
    """Return that the recipient does not want this; nobody is asked about what is mandatory."""
    asked = case.asked
    if asked.mandatory:
        return None
    choice = case.preferences.about(asked.type, asked.channel)
    if choice is None:
        return Halt("skipped", "not asked for") if asked.opt_in else None
    return None if choice.enabled else Halt("skipped", choice.how)


def _without_an_address(case: Case) -> Halt | None:
    if case.address is not None:
        return None
    return Halt("skipped", f"no address for {case.asked.channel}", unreachable=True)


def _to_a_suppressed_address(case: Case) -> Halt | None:
    """Return what is known against the address; nothing overrides that."""
    found = case.suppressions(case.address or "").against(case.asked.type, case.at, case.sender)
    if found is None:
        return None
    return Halt("skipped", f"suppressed: {found}", unreachable=found.why == "hard_bounce")


def _in_quiet_hours(case: Case) -> Halt | Hold | None:
    """Return until when it has to wait; what would be of no use by then is over at once."""
    quiet, until = case.quiet, case.quiet_until
    if quiet is None or until == case.at or case.asked.urgent or case.at >= case.expires_at:
        return None
    hold = Hold(until, *quiet, case.expires_at)
    return hold if until < case.expires_at else Halt("expired", f"of no use after {hold.reason}")


def _too_late(case: Case) -> Halt | None:
    if case.at < case.expires_at:
        return None
    return Halt("expired", f"it was of use until {case.expires_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC")


def _hours(case: Case) -> tuple[QuietHours | None, Literal["recipient", "space"]]:
    if case.preferences.own_hours:
        return case.preferences.quiet_hours, "recipient"
    return (None if case.space is None else case.space.get("quiet_hours")), "space"


def _zone(case: Case) -> tuple[ZoneInfo, Literal["recipient", "space", "operator"]]:
    if case.recipient is not None and (name := case.recipient.get("time_zone")):
        return zone(name), "recipient"
    if case.space is not None and (name := case.space.get("time_zone")):
        return zone(name), "space"
    return zone(case.world.default_zone), "operator"


CHECKS: tuple[Check, ...] = (
    _of_somebody_erased,
    _of_a_reminder_that_moved,
    _of_a_rule_that_no_longer_matches,
    _on_a_channel_switched_off,
    _on_no_channel,
    _not_wanted,
    _without_an_address,
    _to_a_suppressed_address,
    _in_quiet_hours,
    _too_late,
)
"""What is asked, in this order: the first answer counts."""
