"""Reminders for tests: what is told about one, in the order of its recording, and when it is due."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from domain.facts import Entity, Fact, folded
from domain.reminder_calendar import Occurrence, occurrences

MADRID = ZoneInfo("Europe/Madrid")
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
FAR_AHEAD = datetime(2100, 1, 1, tzinfo=UTC)


def at(text: str, zone: ZoneInfo = MADRID) -> datetime:
    """Return the instant of a wall time such as `2026-08-15 12:00`."""
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


def told(when: datetime, fact_type: str, **data: Any) -> tuple[datetime, str, dict[str, Any]]:
    """Return something that is told at an instant, with instants as JSON has them."""
    as_json = {name: v.isoformat() if isinstance(v, datetime) else v for name, v in data.items()}
    return when, fact_type, as_json


def reminder(*story: tuple[datetime, str, dict[str, Any]], order: Iterable[int] | None = None) -> Entity:
    """Return the reminder after a story, whose parts were recorded in this order."""
    facts = []
    for version, index in enumerate(range(len(story)) if order is None else order, start=1):
        when, fact_type, data = story[index]
        facts.append(
            Fact(
                stream="reminder/ana",
                version=version,
                at=max(when, LONG_AGO) + timedelta(seconds=version),
                type=f"reminder.{fact_type}",
                source="tests",
                id=f"{index:04d}",
                time=when,
                event_date=when.date(),
                data={"reminder_id": "ana", **data},
            )
        )
    return folded(Entity("reminder/ana"), facts)


def weekly(when: str = "2026-08-08 00:00", clock: str = "12:00", **more: Any) -> tuple[datetime, str, dict[str, Any]]:
    """Tell of a reminder on Saturdays at noon, from 8 August 2026."""
    data = {"at": clock, "recurrence": "FREQ=WEEKLY", "starts_on": "2026-08-08", "status": "scheduled"}
    return told(at(when), "scheduled", **{**data, **more})


def once(day: str, when: str = "2026-08-01 00:00", clock: str = "12:00") -> tuple[datetime, str, dict[str, Any]]:
    """Tell of a reminder that is due on one date."""
    return told(at(when), "scheduled", at=clock, due_on=day, status="scheduled")


def due(of: Entity, after: str = "2026-08-01 00:00", up_to: str = "2026-08-31 23:59") -> list[str]:
    """Return what falls due, as `2026-08-15#2 at 2026-08-15 13:00`."""
    return [shown(found) for found in occurrences(of, MADRID, at(after), at(up_to))]


def shown(found: Occurrence) -> str:
    return f"{found.occasion} at {found.instant.astimezone(MADRID):%Y-%m-%d %H:%M}"
