"""`semel demo`: a readable summary, one failure, and nothing a second time; on both databases."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from itertools import pairwise

import pytest

from adapters.demo.arrival import feed
from adapters.demo.history import DAYS, happenings
from adapters.ingestion.json_lines import read_value
from tests.adapters.cli.conftest import Semel, objects

MIDNIGHT = dt.datetime(2026, 5, 31, 22, tzinfo=dt.UTC)


def test_the_demo_tells_its_story_and_nothing_happens_a_second_time(semel: Semel, blank_database_url: str) -> None:
    first = semel("demo", "--database", blank_database_url).stdout
    for part in (
        r"\d+ events came in: \d+ recorded, 12 known already",
        r"in conflict: booking\.created demo-\d+: this source used this id before",
        r"refused: booking\.created demo-naive: data\.starts_at: .* has no offset",
        r"\d+ candidates were found",
        r"\d+ did not run: a condition said no",
        r"[1-9]\d* were kept from repeating by their key",
        r"[1-9]\d* ran: [1-9]\d* done, [1-9]\d* failed",
        r"runs failed for one reason, in dossier [0-9a-f]{12}: access\.grant was refused",
        r"the door door-cumulus is not known",
        r"Then the evaluator looked at all [\d,]+ events once more:\n  [\d,]+ candidates again, .* 0 ran",
        r"look further: semel runs · semel dossiers show [0-9a-f]{12} · semel why booking/b\d+",
    ):
        assert re.search(part, first), part
    before = semel("runs", "--json", "--database", blank_database_url).stdout
    told = re.search(r"([\d,]+) ran: ([\d,]+) done", first)
    assert told is not None
    statuses = Counter(run["status"] for run in json.loads(before))
    assert [int(each.replace(",", "")) for each in told.groups()] == [statuses.total(), statuses["done"]]
    second = semel("demo", "--database", blank_database_url).stdout
    assert "This database has played the demo before" in second
    assert ": 0 recorded, " in second
    assert "Nothing happened a second time." in second
    assert semel("runs", "--json", "--database", blank_database_url).stdout == before
    suggested = first.partition("look further: ")[2].partition(" (with the same --database)")[0]
    for command in suggested.split(" · "):
        assert semel(*command.split()[1:], "--database", blank_database_url).stdout
    found = semel("dossiers", "--json", "--fail", "--database", blank_database_url, exits=1)
    assert len(objects(found)) == 1


def test_a_database_with_events_of_its_own_is_left_alone(semel: Semel) -> None:
    semel("ingest", "-", given=json.dumps(feed(MIDNIGHT)[0]))
    assert "give the demo another one" in semel("demo", exits=2).stderr
    assert objects(semel("runs", "--json")) == []


def test_the_history_is_the_same_for_the_same_midnight() -> None:
    assert feed(MIDNIGHT) == feed(MIDNIGHT)
    assert json.loads(json.dumps(feed(MIDNIGHT))) == feed(MIDNIGHT)


def test_the_history_has_a_month_that_ends_at_its_midnight() -> None:
    times = [one.time for one in happenings(MIDNIGHT)]
    assert times == sorted(times)
    assert max(times) < MIDNIGHT
    assert MIDNIGHT - min(times) == dt.timedelta(days=DAYS)


@pytest.mark.parametrize("day", [dt.date(2026, 3, 30), dt.date(2026, 10, 26), dt.date(2028, 3, 1)])
def test_any_midnight_has_a_good_history(day: dt.date) -> None:
    events = feed(dt.datetime.combine(day, dt.time(), dt.UTC))
    wrong = [item for item in map(read_value, range(len(events)), events) if item.incoming is None]
    assert [item.id for item in wrong] == ["demo-naive"]


def test_events_come_in_as_in_life() -> None:
    events = feed(MIDNIGHT)
    names = Counter((event["source"], event["id"]) for event in events)
    assert sum(count - 1 for count in names.values()) == 13
    times = [dt.datetime.fromisoformat(event["time"]) for event in events]
    assert sum(1 for earlier, later in pairwise(times) if later < earlier) > 20
