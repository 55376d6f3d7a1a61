"""Rules hold a time on the wall and the name of a zone, so new zone data moves what lies ahead (delivery trial E8)."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path

import pytest

from domain.civil_time import zone
from tests.adapters.delivering.office import Office

MADRID = "Europe/Madrid"


def forget_zones() -> None:
    zoneinfo.ZoneInfo.clear_cache()
    zone.cache_clear()


@pytest.fixture
def new_rules(tmp_path: Path) -> Iterator[Path]:
    """Where zone data is looked for first; what a test puts there is gone after it."""
    before = zoneinfo.TZPATH
    yield tmp_path
    zoneinfo.reset_tzpath(before)
    forget_zones()


def clocks_stay_in_winter(folder: Path) -> None:
    """Let Spain have given up summer time, as of the next start of a process."""
    place = folder / MADRID
    place.parent.mkdir()
    place.write_bytes(resources.files("tzdata").joinpath("zoneinfo", "Africa", "Lagos").read_bytes())
    zoneinfo.reset_tzpath([folder])
    forget_zones()


@pytest.mark.parametrize("is_new", [False, True], ids=["as-it-was", "new-zone-data"])
def test_e8_new_zone_data_moves_what_lies_ahead(office: Office, new_rules: Path, is_new: bool) -> None:
    """Trial E8: twelve o'clock stays twelve o'clock, and is another instant."""
    office.tell(
        "reminder.scheduled",
        reminder_id="ana",
        member_id="m1",
        about="Ana",
        at="12:00",
        starts_on="2026-08-08",
        recurrence="FREQ=DAILY",
        time_zone=MADRID,
        channels=["email"],
    )
    office.settle()
    if is_new:
        clocks_stay_in_winter(new_rules)
        office.start_anew()
    for hour in range(24):
        office.clock.set(max(office.clock.now(), datetime(2026, 8, 8, hour, tzinfo=UTC)))
        office.tick()
        if hour == 1 and is_new:
            office.start_anew()
    sent = [message.at for message in office.messages()]
    assert sent == [datetime(2026, 8, 8, 11 if is_new else 10, tzinfo=UTC)]
