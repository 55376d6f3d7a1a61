"""Twenty rules of an operator, of many triggers and conditions, for the history in `tests.history`."""

from __future__ import annotations

from typing import Any

from automations.authoring import read_rules
from domain.rules import Rule


def _task(title: str) -> dict[str, Any]:
    return {"create_task": {"title": title}}


def _tell(type_name: str) -> dict[str, Any]:
    return {"notify": {"type": type_name}}


def _fee(amount: str, reason: str) -> dict[str, Any]:
    return {"charge_fee": {"amount": amount, "reason": reason}}


def _rule(identifier: str, when: str, *where: Any, do: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": identifier, "when": when, "where": list(where), "do": [do], **more}


WRITTEN = [
    _rule(
        "big-event",
        "booking.created",
        "resource.kind is event_space",
        "booking.attendees at least 18",
        do=_task("Chairs for {{ booking.attendees }} in {{ resource.name }}"),
    ),
    _rule(
        "first-booking",
        "booking.created",
        "member.bookings_before below 1",
        "resource.kind in event_space, office",
        do=_tell("first-booking"),
        once="entity",
    ),
    _rule("vip", "booking.created", 'member.tags contains "vip"', do=_tell("vip-booking")),
    _rule(
        "expensive",
        "booking.created",
        "booking.price above 190 EUR",
        "member.company is empty",
        do=_task("Call {{ member.name }}"),
    ),
    _rule(
        "weekend-cancelled",
        "booking.cancelled",
        "booking.start_time at least 9:00",
        "booking.weekday in saturday, sunday",
        do=_task("Close the door on {{ booking.weekday }}"),
    ),
    _rule(
        "long-meeting",
        "booking.changed",
        "booking.duration above 4 hours",
        "resource.kind is meeting_room",
        {"any": ["booking.attendees above 20", "member.locale is it"]},
        do=_tell("catering"),
        once="date",
    ),
    _rule(
        "moved",
        "booking.changed",
        'event.changed contains "starts_at"',
        "resource.kind is event_space",
        do=_task("{{ resource.name }} moved from {{ event.before.starts_at }}"),
    ),
    _rule(
        "grown",
        "booking.changed",
        'event.changed contains "attendees"',
        "booking.attendees above 15",
        do=_tell("bigger-room"),
    ),
    _rule(
        "late-cancellation",
        "booking.cancelled",
        "booking.price above 150 EUR",
        {"not": 'member.tags contains "vip"'},
        do=_fee("15 EUR", "Cancelled {{ booking.starts_at }}"),
    ),
    _rule(
        "event-cancelled",
        "booking.cancelled",
        "resource.kind is event_space",
        do=_task("{{ resource.name }} is free again"),
        once="date",
    ),
    _rule("no-show", "booking.no_show", "booking.price above 20 EUR", do=_fee("10 EUR", "No-show"), once="date"),
    _rule(
        "guest-at-the-desk",
        "booking.checked_in",
        "member.company is empty",
        "resource.kind is office",
        do=_tell("house-rules"),
        once="entity",
    ),
    _rule(
        "clean-up",
        "booking.checked_out",
        "resource.kind is event_space",
        "booking.attendees above 8",
        do=_task("Clean {{ resource.name }}"),
    ),
    _rule(
        "overstayed",
        "booking.checked_out",
        "booking.duration below 2 hours",
        "resource.kind is phone_booth",
        "booking.attendees above 20",
        do=_tell("overstayed"),
    ),
    _rule(
        "large-invoice",
        "invoice.issued",
        "invoice.total above 100 EUR",
        "invoice.automatic_collection is not yes",
        do=_tell("large-invoice"),
    ),
    _rule("voided", "invoice.voided", "invoice.total above 50 EUR", do=_task("Check {{ invoice.total }}")),
    _rule(
        "paid-off",
        "payment.received",
        "invoice.outstanding at most 0 EUR",
        "payment.amount above 40 EUR",
        do=_tell("thank-you"),
        give_up_after="10 days",
    ),
    _rule("payment-failed", "payment.failed", do=_task("{{ payment.amount }} failed"), once="date"),
    _rule("flex-welcome", "subscription.started", "subscription.plan is flex", do=_tell("flex-welcome")),
    _rule("foreign-member", "member.registered", "member.locale not in de, en", do=_tell("welcome")),
]
"""The rules as their author writes them."""


def rules() -> tuple[Rule, ...]:
    """Return the rules, checked."""
    return tuple(authored.rule for authored in read_rules(WRITTEN))
