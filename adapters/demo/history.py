"""A month of a coworking space as events, the same ones whenever it is asked for the same midnight."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from adapters.demo.cast import PRICES, RESOURCES, SPACE, members

DAYS = 31
"""How many days the history has, up to its midnight."""

SEED = 20_260_501
"""Where chance begins, so that it is the same each time."""

HOUR = timedelta(hours=1)


class Happening(NamedTuple):
    """Something that happened: when, which system tells of it, what, and with which data."""

    time: datetime
    source: str
    type: str
    data: dict[str, Any]


def happenings(midnight: datetime) -> list[Happening]:
    """Return what happened in the days before a midnight, in the order in which it happened."""
    chance = Random(SEED)  # noqa: S311 - a story, not a secret
    start = midnight.astimezone(ZoneInfo(str(SPACE["time_zone"]))) - timedelta(days=DAYS)
    told = [
        *_beginning(start),
        *_bookings(start, chance),
        *_subscriptions(start, chance),
        *_invoices(start, chance),
        *_reminders(start),
    ]
    return sorted((one for one in told if one.time < midnight), key=lambda one: one.time)


def _beginning(start: datetime) -> Iterator[Happening]:
    yield Happening(start, "demo/booking", "space.opened", dict(SPACE))
    for number, resource in enumerate(RESOURCES, 1):
        at = start + timedelta(minutes=number)
        yield Happening(at, "demo/booking", "resource.added", {**resource, "space_id": SPACE["space_id"]})
    for number, member in enumerate(members()):
        joined = start + timedelta(hours=9) + number * timedelta(hours=5 if number > 12 else 0, minutes=1)
        yield Happening(joined, "demo/membership", "member.registered", member)


def _bookings(start: datetime, chance: Random) -> Iterator[Happening]:
    number = 0
    for day in range(5, DAYS + 6):
        date = start + timedelta(days=day)
        for _ in range(2 if date.weekday() >= 5 else 8):
            number += 1
            yield from _booking(f"b{number:03d}", date, start, chance)


def _booking(booking_id: str, date: datetime, start: datetime, chance: Random) -> Iterator[Happening]:
    resource = chance.choices(RESOURCES, weights=(4, 3, 3, 1, 2, 3))[0]
    starts_at = date.replace(hour=chance.randint(8, 17), minute=chance.choice((0, 30)))
    hours = chance.randint(1, 5)
    created = max(start + 14 * HOUR, starts_at - timedelta(hours=chance.randint(3, 120)))
    data = {
        "booking_id": booking_id,
        "resource_id": resource["resource_id"],
        "member_id": f"m{chance.randint(1, 12):02d}",
        "starts_at": starts_at.isoformat(),
        "ends_at": (starts_at + hours * HOUR).isoformat(),
        "attendees": chance.randint(1, int(resource["capacity"])),
        "price": f"{PRICES[resource['kind']] * hours}.00 EUR",
    }
    yield Happening(created, "demo/booking", "booking.created", data)
    yield from _fate(booking_id, created, starts_at, starts_at + hours * HOUR, chance)


def _fate(
    booking_id: str, created: datetime, starts_at: datetime, ends_at: datetime, chance: Random
) -> Iterator[Happening]:
    """Return what became of a booking: moved about, cancelled, nobody came, or all went well."""
    luck = chance.random()
    between = created + (starts_at - created) / 2

    def told(at: datetime, what: str, **more: Any) -> Happening:
        return Happening(at, "demo/booking", f"booking.{what}", {"booking_id": booking_id, **more})

    if luck < 0.10:
        reason = chance.choice(("found another date", "travel plans changed"))
        yield told(starts_at - HOUR if luck < 0.05 else between, "cancelled", reason=reason)
        return
    if luck < 0.20:  # twice within minutes: one errand for whoever prepares the room
        yield told(between, "changed", attendees=chance.randint(1, 6))
        yield told(between + timedelta(minutes=6), "changed", attendees=chance.randint(1, 6))
    if 0.20 <= luck < 0.26:
        yield told(starts_at + timedelta(minutes=30), "no_show")
        if luck < 0.23:  # the front desk corrects itself, and corrects that again
            yield told(starts_at + timedelta(minutes=34), "checked_in")
            yield told(starts_at + timedelta(minutes=41), "no_show")
        return
    yield told(starts_at - timedelta(minutes=chance.randint(0, 9)), "checked_in")
    yield told(ends_at + timedelta(minutes=chance.randint(-30, 8)), "checked_out")


def _subscriptions(start: datetime, chance: Random) -> Iterator[Happening]:
    for number in range(1, 13):
        began = start + timedelta(hours=10, minutes=number)
        ends = began.date() + timedelta(days=chance.choice((20, 34, 48)))
        named = {"subscription_id": f"s{number:02d}"}
        data = {
            **named,
            "space_id": SPACE["space_id"],
            "member_id": f"m{number:02d}",
            "plan": chance.choice(("flex", "resident", "team")),
            "starts_on": began.date().isoformat(),
            "ends_on": ends.isoformat(),
        }
        yield Happening(began, "demo/membership", "subscription.started", data)
        if number % 4 == 0:
            yield Happening(began + timedelta(days=12), "demo/membership", "subscription.cancelled", named)


def _invoices(start: datetime, chance: Random) -> Iterator[Happening]:
    for number in range(1, 41):
        issued = start + timedelta(hours=12 + chance.randint(0, 24 * DAYS - 48))
        total = chance.choice((48, 90, 129, 180, 240, 360))
        data = {
            "invoice_id": f"i{number:03d}",
            "space_id": SPACE["space_id"],
            "member_id": f"m{chance.randint(1, 12):02d}",
            "total": f"{total}.00 EUR",
            "due_on": (issued.date() + timedelta(days=14)).isoformat(),
        }
        yield Happening(issued, "demo/billing", "invoice.issued", data)
        yield from _payments(data["invoice_id"], total, issued + timedelta(days=chance.randint(1, 12)), chance)


def _reminders(start: datetime) -> Iterator[Happening]:
    """Return what staff and members want to be told about, once and again and again."""
    told: tuple[tuple[str, str, str, dict[str, str | int]], ...] = (
        ("laser", "m01", "The laser cutter is serviced", {"recurrence": "FREQ=WEEKLY", "starts_on": 2}),
        ("rent", "m03", "Send the rent invoice for the studio", {"recurrence": "FREQ=MONTHLY", "starts_on": 6}),
        ("photo", "m09", "Ask the press for the photographs", {"due_on": 17}),
    )
    for name, member, about, when in told:
        days = {key: value if isinstance(value, str) else _day(start, value) for key, value in when.items()}
        data = {
            "reminder_id": name,
            "member_id": member,
            "about": about,
            "at": "09:00",
            "space_id": SPACE["space_id"],
            "channels": ["email", "in_app"],
            **days,
        }
        yield Happening(start + 15 * HOUR, "demo/booking", "reminder.scheduled", data)
    yield Happening(
        start + timedelta(days=15, hours=11),
        "demo/booking",
        "reminder.completed",
        {"reminder_id": "photo", "due_on": _day(start, 17)},
    )


def _day(start: datetime, number: int) -> str:
    return (start.date() + timedelta(days=number)).isoformat()


def _payments(invoice_id: Any, total: int, at: datetime, chance: Random) -> Iterator[Happening]:
    def told(what: str, number: int, amount: int, after: timedelta) -> Happening:
        data = {
            "payment_id": f"{invoice_id}-p{number}",
            "invoice_id": invoice_id,
            "amount": f"{amount}.00 EUR",
        }
        return Happening(at + after, "demo/billing", f"payment.{what}", data)

    luck = chance.random()
    if luck < 0.15:
        yield told("failed", 1, total, timedelta())
    if luck < 0.25:
        yield told("received", 2, total // 2, 2 * HOUR)
        yield told("received", 3, total - total // 2, 5 * HOUR)
    elif luck < 0.85:
        yield told("received", 2, total, HOUR)
