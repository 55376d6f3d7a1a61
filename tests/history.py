"""A generated history of a coworking operator, as CloudEvents: the same one for the same seed.

Members book, change, cancel, come and go, are invoiced and pay; some events arrive twice, some late.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 1, 5, 7, 0, tzinfo=UTC)
DAYS = 150
PER_BOOKING = 3.2  # events that one booking comes to, with its invoices and payments

ZONES = ("Europe/Berlin", "Europe/Madrid", "Europe/Rome", "Europe/Lisbon", "Europe/Vienna")
KINDS = ("meeting_room", "meeting_room", "desk", "desk", "desk", "office", "event_space", "phone_booth")
PLANS = ("flex", "flex", "resident", "team")

Event = dict[str, Any]


def history(events: int, *, seed: int = 1, members: int = 2_000, resources: int = 40, spaces: int = 5) -> list[Event]:
    """Return so many events in the order in which they arrive, repeats among them."""
    chance = random.Random(seed)
    operator = _Operator(chance, members, resources, spaces)
    operator.live(bookings=int(events / PER_BOOKING))
    told = sorted(operator.told, key=lambda event: event["time"])[:events]
    return _as_they_arrive(told, chance)[:events]


def _as_they_arrive(told: list[Event], chance: random.Random) -> list[Event]:
    """Return the events with one in a hundred repeated, and three in a hundred late by up to fifty places."""
    places = [(place + _delay(chance), event) for place, event in enumerate(told)]
    repeats = [(place + chance.uniform(1, 400), event) for place, event in places if chance.random() < 0.01]
    return [event for _, event in sorted([*places, *repeats], key=lambda placed: placed[0])]


def _delay(chance: random.Random) -> float:
    return chance.uniform(0, 50) if chance.random() < 0.03 else 0.0


@dataclass(slots=True)
class _Operator:
    """Tells what happens at an operator, in no particular order."""

    chance: random.Random
    members: int
    resources: int
    spaces: int
    told: list[Event] = field(default_factory=list)

    def live(self, bookings: int) -> None:
        for number in range(self.spaces):
            self._open_space(number)
        for number in range(self.resources):
            self._add_resource(number)
        for number in range(self.members):
            self._register(number)
        for number in range(bookings):
            self._book(number)

    def _tell(self, event_type: str, at: datetime, **data: Any) -> None:
        self.told.append(
            {
                "specversion": "1.0",
                "id": f"{len(self.told) + 1:07d}",
                "source": "https://booking.example/events",
                "type": event_type,
                "time": at.isoformat(),
                "data": data,
            }
        )

    def _open_space(self, number: int) -> None:
        zone = ZONES[number % len(ZONES)]
        space = {"name": f"House {number}", "time_zone": zone, "currency": "EUR", "locale": "de"}
        self._tell("space.opened", START, space_id=f"s{number}", **space)

    def _add_resource(self, number: int) -> None:
        resource = {
            "space_id": f"s{number % self.spaces}",
            "kind": KINDS[number % len(KINDS)],
            "name": f"Room {number}",
            "capacity": 2 + number % 30,
            "door": f"d{number}",
        }
        self._tell("resource.added", START + timedelta(minutes=1), resource_id=f"r{number}", **resource)

    def _register(self, number: int) -> None:
        chance, member = self.chance, f"m{number}"
        at = START + timedelta(minutes=chance.randrange(2, 60 * 24 * 20))
        person: dict[str, Any] = {
            "name": f"Member {number}",
            "email": f"member{number}@example.org",
            "locale": chance.choice(("de", "de", "en", "it", "es")),
        }
        if chance.random() < 0.5:
            person["company"] = f"Company {number}"
        if chance.random() < 0.08:
            person["tags"] = ["vip"]
        self._tell("member.registered", at, member_id=member, **person)
        if chance.random() < 0.6:
            self._subscribe(number, at + timedelta(hours=1))

    def _subscribe(self, number: int, at: datetime) -> None:
        chance, subscription = self.chance, f"sub{number}"
        plan = {
            "space_id": f"s{number % self.spaces}",
            "member_id": f"m{number}",
            "plan": chance.choice(PLANS),
            "starts_on": at.date().isoformat(),
            "ends_on": (at.date() + timedelta(days=90)).isoformat(),
        }
        self._tell("subscription.started", at, subscription_id=subscription, **plan)
        later = at + timedelta(days=chance.randrange(20, 90))
        fate = chance.random()
        if fate < 0.5:
            ends = (at.date() + timedelta(days=180)).isoformat()
            self._tell("subscription.renewed", later, subscription_id=subscription, ends_on=ends)
        elif fate < 0.65:
            self._tell("subscription.cancelled", later, subscription_id=subscription)
        elif fate < 0.75:
            self._tell("subscription.changed", later, subscription_id=subscription, plan="team")

    def _book(self, number: int) -> None:
        chance, booking = self.chance, f"b{number}"
        made = START + timedelta(minutes=chance.randrange(60 * 24, 60 * 24 * DAYS))
        starts = made.replace(minute=0) + timedelta(hours=chance.randrange(3, 24 * 12))
        starts = starts.replace(hour=chance.randrange(7, 20))
        ends = starts + timedelta(hours=chance.choice((1, 1, 2, 2, 3, 5, 8)))
        details = {
            "resource_id": f"r{chance.randrange(self.resources)}",
            "member_id": f"m{chance.randrange(self.members)}",
            "attendees": chance.randrange(1, 30),
            "price": f"{chance.randrange(8, 240)}.50 EUR",
        }
        span = {"starts_at": starts.isoformat(), "ends_at": ends.isoformat()}
        self._tell("booking.created", made, booking_id=booking, **details, **span)
        if chance.random() < 0.25:
            self._change(booking, made, starts, ends)
        if chance.random() < 0.12:
            self._tell("booking.cancelled", made + (starts - made) / 2, booking_id=booking, reason="ill")
            return
        self._attend(booking, starts, ends)
        if chance.random() < 0.22:
            self._invoice(number, details, ends)

    def _change(self, booking: str, made: datetime, starts: datetime, ends: datetime) -> None:
        at = made + (starts - made) / 3
        if self.chance.random() < 0.5:
            self._tell("booking.changed", at, booking_id=booking, attendees=self.chance.randrange(1, 40))
            return
        moved = {"starts_at": starts + timedelta(hours=1), "ends_at": ends + timedelta(hours=1)}
        span = {name: instant.isoformat() for name, instant in moved.items()}
        self._tell("booking.changed", at, booking_id=booking, **span)

    def _attend(self, booking: str, starts: datetime, ends: datetime) -> None:
        if self.chance.random() < 0.06:
            self._tell("booking.no_show", starts + timedelta(minutes=30), booking_id=booking)
            return
        if self.chance.random() < 0.85:
            self._tell("booking.checked_in", starts + timedelta(minutes=4), booking_id=booking)
        if self.chance.random() < 0.8:
            self._tell("booking.checked_out", ends - timedelta(minutes=3), booking_id=booking)

    def _invoice(self, number: int, details: Event, ends: datetime) -> None:
        chance, invoice = self.chance, f"i{number}"
        bill = {
            "space_id": f"s{number % self.spaces}",
            "member_id": details["member_id"],
            "total": details["price"],
            "due_on": (ends.date() + timedelta(days=14)).isoformat(),
            "booking_id": f"b{number}",
        }
        self._tell("invoice.issued", ends + timedelta(hours=1), invoice_id=invoice, **bill)
        if chance.random() < 0.04:
            self._tell("invoice.voided", ends + timedelta(days=2), invoice_id=invoice)
            return
        for part in self._parts(details["price"]):
            paid = ends + timedelta(hours=chance.randrange(2, 24 * 20))
            kind = "payment.received" if chance.random() < 0.95 else "payment.failed"
            payment = f"p{number}-{part}"
            self._tell(kind, paid, payment_id=payment, invoice_id=invoice, amount=part)

    def _parts(self, price: str) -> Iterator[str]:
        """Return the payments of a price: mostly one, else a first part and the rest."""
        if self.chance.random() < 0.8:
            yield price
            return
        yield "5.00 EUR"
        yield f"{float(price.removesuffix(' EUR')) - 5:.2f} EUR"
