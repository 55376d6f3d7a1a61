"""A service that is away for hours: one dossier, one notice, no rule switched off, nothing lost (trial 68)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from adapters.scenarios.playing import play
from automations.authoring import AuthoredRule
from automations.scenarios.reading import read_scenario
from domain.errors import InvalidInput
from tests.databases import Databases

DAY = "2026-05-12"
DUE = datetime(2026, 5, 12, 9, 0)
DOWN_AT, UP_AT = "09:00", "12:00"
GRANTS, OVER_BY_THEN = 140, 9
VALID = GRANTS - OVER_BY_THEN
AFTERWARDS = {"done": VALID, "skipped": OVER_BY_THEN}
OPENED = {"type": "semel.dossier-opened", "to": "staff"}
RECOVERED = {"type": "semel.dossier-recovered", "to": "staff"}
GRANT = {"door": "{{ resource.door }}", "from": "15 minutes before booking.starts_at", "until": "booking.ends_at"}
OPEN_DOORS = {"id": "doors", "when": "booking.starting", "before": "15 minutes", "do": [{"grant_access": GRANT}]}


@pytest.fixture(scope="module")
def url(databases: Databases) -> Iterator[str]:
    """A database in which each scenario gets a schema of its own; embedded ones get a file instead."""
    with databases.fresh(blank=True) as fresh:
        yield fresh


def bookings() -> Iterator[dict[str, Any]]:
    """Give bookings whose grants fall due while the doors are away, nine of which end before these are back."""
    for number in range(GRANTS):
        starts = DUE + timedelta(minutes=15, seconds=75 * number)
        ends = datetime(2026, 5, 12, 11, 59, 45) if number < OVER_BY_THEN else starts + timedelta(hours=4)
        times = {"starts_at": f"{starts:%Y-%m-%d %H:%M:%S}", "ends_at": f"{ends:%Y-%m-%d %H:%M:%S}"}
        yield {"booking.created": {"booking_id": f"b{number:03}", "member_id": "m1", "resource_id": "r1", **times}}


def later() -> dict[str, Any]:
    """Return a booking whose grant falls due when all is well again."""
    times = {"starts_at": f"{DAY} 12:45", "ends_at": f"{DAY} 14:00"}
    return {"booking.created": {"booking_id": "later", "member_id": "m1", "resource_id": "r1", **times}}


def at(time: str, **happens: Any) -> dict[str, Any]:
    return {"at": f"{DAY} {time}", **happens}


def differences(
    url: str, fault: str, meanwhile: list[dict[str, Any]], afterwards: list[dict[str, Any]], **expect: Any
) -> str:
    """Play the outage, and return what differs."""

    def no_file(name: str) -> tuple[AuthoredRule, ...]:
        raise InvalidInput(name)

    scenario = {
        "scenario": "the doors are away for three hours",
        "zone": "Europe/Berlin",
        "from": f"{DAY} 08:50",
        "to": f"{DAY} 12:35",
        "tick": "5 minutes",
        "rules": [OPEN_DOORS],
        "given": [*bookings(), later()],
        "timeline": [
            at(DOWN_AT, service={"access": fault}),
            *meanwhile,
            at(UP_AT, service={"access": "ok"}),
            *afterwards,
        ],
        "expect": expect,
    }
    found = play(read_scenario(scenario, no_file), url)
    return "\n".join(line for each in found.differences for line in each.lines())


@pytest.mark.parametrize("fault", ["unavailable", "misconfigured", "times out"])
def test_the_doors_are_away_for_three_hours(url: str, fault: str) -> None:
    told = differences(
        url,
        fault,
        [
            at(
                "11:59:30",
                expect={
                    "counts": {"waiting": GRANTS},
                    "dossiers": [{"service": "access", "runs": GRANTS}],
                    "notices": [OPENED],
                    "calls": {"access.grant": {"effects": 0}},
                },
            )
        ],
        [at("12:01:30", expect={"counts": AFTERWARDS})],
        counts={"done": VALID + 1, "skipped": OVER_BY_THEN},
        runs_include=[
            {"rule": "doors", "status": "skipped", "reason_contains": "no longer needed", "times": OVER_BY_THEN},
            {"rule": "doors", "entity": "booking/later", "status": "done", "at": f"{DAY} 12:30"},
        ],
        dossiers=0,
        notices=[OPENED, {**RECOVERED, "at": f"{DAY} 12:00"}],
        calls={"access.grant": {"effects": VALID + 1}},
    )
    assert told == ""


def test_one_retry_lets_everything_through_at_once(url: str) -> None:
    told = differences(
        url,
        "unavailable",
        [],
        [at("12:00:05", staff={"retry": {"rule": "doors"}}), at("12:00:06", expect={"counts": AFTERWARDS})],
        dossiers=0,
        notices=[OPENED, RECOVERED],
    )
    assert told == ""
