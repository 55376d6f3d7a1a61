"""Who and what there is in the demo: one space, its resources, its members. Nobody of them exists."""

from __future__ import annotations

from typing import Any

SPACE = {
    "space_id": "spree",
    "name": "Spree Works",
    "time_zone": "Europe/Berlin",
    "currency": "EUR",
    "locale": "de",
}

RESOURCES: tuple[dict[str, Any], ...] = (
    {"resource_id": "aurora", "kind": "meeting_room", "name": "Aurora", "capacity": 8, "door": "door-aurora"},
    {"resource_id": "borealis", "kind": "meeting_room", "name": "Borealis", "capacity": 12, "door": "door-borealis"},
    {"resource_id": "cumulus", "kind": "meeting_room", "name": "Cumulus", "capacity": 6, "door": "door-cumulus"},
    {"resource_id": "hall", "kind": "event_space", "name": "The Hall", "capacity": 90, "door": "door-hall"},
    {"resource_id": "booth", "kind": "phone_booth", "name": "Quiet booth", "capacity": 1},
    {"resource_id": "desks", "kind": "desk", "name": "Window desks", "capacity": 10},
)

PRICES = {"meeting_room": 24, "event_space": 95, "phone_booth": 6, "desk": 4}
"""Euros for an hour."""

DOOR_OUT_OF_ORDER = "door-cumulus"
"""The door whose lock was replaced without telling the door system."""

NAMES = (
    ("Ada Nyström", "Nyström Maps", ("vip",)),
    ("Bela Kovačič", None, ()),
    ("Chiara Fontana", "Fontana & Figli", ()),
    ("Dov Amsel", None, ("vip",)),
    ("Esra Yıldız", "Yıldız Audio", ()),
    ("Farid Haddad", None, ()),
    ("Greta Holm", "Holmwerk", ()),
    ("Hiro Tanabe", None, ()),
    ("Ines Vidal", "Vidal Textil", ("vip",)),
    ("Jonas Brandt", None, ()),
    ("Katya Orlova", "Orlova Studio", ()),
    ("Luca Serra", None, ()),
    ("Mara Lindqvist", None, ()),
    ("Noor van Dam", "Van Dam Legal", ()),
    ("Otis Bright", None, ()),
    ("Pilar Ruiz", None, ()),
    ("Quinn Doyle", "Doyle Games", ()),
    ("Rosa Almeida", None, ()),
    ("Sami Koskinen", "Koskinen Oy", ()),
    ("Tilda Frank", None, ()),
)

LOCALES = ("de", "en", "it", "es")


def members() -> list[dict[str, Any]]:
    """Return what is told about each member when it registers."""
    return [_member(number, *row) for number, row in enumerate(NAMES, 1)]


def _member(number: int, name: str, company: str | None, tags: tuple[str, ...]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "member_id": f"m{number:02d}",
        "name": name,
        "email": f"member{number:02d}@example.org",
        "locale": LOCALES[number % len(LOCALES)],
        "tags": list(tags),
    }
    return told if company is None else {**told, "company": company}
