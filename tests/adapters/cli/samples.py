"""Events and rules that the tests of the command use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SPACE = {"space_id": "mitte", "name": "Mitte", "time_zone": "Europe/Berlin", "currency": "EUR"}
ROOM = {"resource_id": "r1", "space_id": "mitte", "kind": "meeting_room", "name": "Room 1", "door": "d1"}
MEMBER = {"member_id": "m1", "name": "Mia", "email": "mia@example.org"}

RULES = """\
rules:
  - id: prepare
    name: Prepare the room
    when: booking.created
    where:
      - booking.attendees at least 3
    do:
      - create_task: {title: "Chairs for {{ booking.attendees }}"}

  - id: fee
    when: booking.no_show
    do:
      - charge_fee: {amount: 10 EUR, reason: "{{ resource.name }}"}
    once: entity
"""


def event(identifier: str, kind: str, data: dict[str, Any], time: str = "2026-05-01T10:00:00+02:00") -> dict[str, Any]:
    """Return a CloudEvent."""
    return {"id": identifier, "source": "test", "type": kind, "time": time, "data": data}


def booking(number: int, **more: Any) -> dict[str, Any]:
    """Return the event of a booking that was made."""
    data = {
        "booking_id": f"b{number}",
        "resource_id": "r1",
        "member_id": "m1",
        "starts_at": "2099-05-12T10:00:00+02:00",
        "ends_at": "2099-05-12T12:00:00+02:00",
        "attendees": number,
        **more,
    }
    return event(f"booking-{number}", "booking.created", data)


def no_show(number: int, again: int = 0) -> dict[str, Any]:
    """Return the event of nobody coming to a booking."""
    return event(f"no-show-{number}-{again}", "booking.no_show", {"booking_id": f"b{number}"})


WORLD = [
    event("space", "space.opened", SPACE),
    event("room", "resource.added", ROOM),
    event("member", "member.registered", MEMBER),
]
"""A space with a room and a member."""


def write_lines(path: Path, *lines: object) -> str:
    """Write a file of JSON lines, texts as they are, and return its name."""
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join(texts) + b"\n")
    return path.name


def write_rules(folder: Path, text: str = RULES, name: str = "rules.yaml") -> str:
    """Write a rule file and return its name."""
    (folder / name).write_text(text, encoding="utf-8")
    return name
