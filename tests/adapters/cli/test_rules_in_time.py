"""`semel rules next`, `backfill`, and what `enable` and `why` say about time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, booking, event, write_lines, write_rules

RULES = """\
rules:
  - id: remind
    when: booking.starting
    before: 2 hours
    where:
      - booking.attendees at least 3
    do:
      - create_task: {title: Remind}
  - id: feedback
    when: booking.ended
    after: 1 hour
    do:
      - create_task: {title: Feedback}
    enabled: false
  - id: made
    when: booking.created
    do:
      - create_task: {title: Made}
    enabled: false
"""


def days_ago(days: int, hours: int = 0) -> str:
    """Return the instant that lies so many days before that of the machine."""
    return (datetime.now(UTC) - timedelta(days=days, hours=hours)).isoformat()


@pytest.fixture
def url(semel: Semel, folder: Path, database_url: str) -> str:
    """A database with three rules, two bookings far ahead and three in the past."""
    semel("init", "--database", database_url)
    past = [booking(number, starts_at=days_ago(number, 1), ends_at=days_ago(number)) for number in (11, 12, 13)]
    lines = [*WORLD, booking(2), booking(4), *past]
    semel("ingest", write_lines(folder / "e.jsonl", *lines), "--database", database_url)
    semel("apply", write_rules(folder, RULES), "--database", database_url)
    semel("work", "--until-idle", "--database", database_url)
    return database_url


def test_the_next_runs_of_a_rule_are_listed(semel: Semel, url: str) -> None:
    (run,) = objects(semel("rules", "next", "remind", "--json", "--database", url))
    assert (run["entity"], run["at"], run["status"], run["date"]) == (
        "booking/b4",
        "2099-05-12T06:00:00Z",
        "will run",
        "2099-05-12",
    )
    told = semel("rules", "next", "remind", "--all", "--database", url).stdout
    assert "booking/b2" in told
    assert "no: booking.attendees is 2, wanted: at least 3" in told


def test_a_rule_that_is_off_says_that_nothing_of_it_will_run(semel: Semel, url: str) -> None:
    assert "feedback is drafted: none of this will run" in semel("rules", "next", "feedback", "--database", url).stdout


def test_nobody_knows_the_next_event(semel: Semel, url: str) -> None:
    assert "started by booking.created" in semel("rules", "next", "made", "--database", url, exits=2).stderr


def test_enabling_tells_past_and_next_matches_and_who_hears_of_a_failure(semel: Semel, folder: Path, url: str) -> None:
    told = semel("rules", "enable", "feedback", "--database", url).stdout
    assert "past: 3 match; not run, unless you ask for it: semel rules backfill feedback" in told
    assert "next: booking/b2 at 2099-05-12 11:00:00Z, booking/b4 at 2099-05-12 11:00:00Z" in told
    assert "warning: nobody is told of one, because no member has staff: true" in told
    somebody = event("ana", "member.registered", {"member_id": "ana", "name": "Ana", "staff": True})
    semel("ingest", write_lines(folder / "ana.jsonl", somebody), "--database", url)
    semel("work", "--until-idle", "--database", url)
    told = semel("rules", "enable", "feedback", "--database", url).stdout
    assert "of which member/ana are told" in told
    assert "warning" not in told
    semel("tick", "--database", url)
    assert objects(semel("runs", "--rule", "feedback", "--json", "--database", url)) == []


def test_a_backfill_says_how_much_it_is_and_asks(semel: Semel, url: str) -> None:
    semel("rules", "enable", "feedback", "--database", url)
    told = semel("rules", "backfill", "feedback", "--database", url, exits=1, given="n\n").stdout
    assert "5 were due, 3 match" not in told
    assert "3 were due, 3 match" in told
    assert objects(semel("runs", "--rule", "feedback", "--json", "--database", url)) == []


def test_a_backfill_runs_the_past_once_and_the_life_of_the_rule_tells_it(semel: Semel, url: str) -> None:
    semel("rules", "enable", "feedback", "--database", url)
    window = ("--from", days_ago(12, 1), "--to", days_ago(10))
    told = semel("rules", "backfill", "feedback", *window, "--yes", "--by", "Ana", "--database", url).stdout
    assert "2 were due, 2 match" in told
    assert "runs: 2 done" in told
    assert "1 were due" not in told
    again = semel("rules", "backfill", "feedback", "--yes", "--by", "Ana", "--database", url).stdout
    assert "3 were due, 1 match; 2 more ran already" in again
    assert "0 match; 3 more ran already" in semel("rules", "backfill", "feedback", "--database", url).stdout
    (shown,) = objects(semel("rules", "show", "feedback", "--json", "--database", url))
    assert [(entry["what"], entry["by"]) for entry in shown["history"]][-2:] == [("backfilled", "Ana")] * 2
    assert (shown["runs"], shown["missed_while_disabled"]) == ({"done": 3}, 0)
    assert "runs: 3 done" in semel("rules", "show", "feedback", "--database", url).stdout


def test_a_backfill_of_a_rule_that_is_off_or_started_by_events_is_refused(semel: Semel, url: str) -> None:
    off = semel("rules", "backfill", "feedback", "--yes", "--database", url, exits=2).stderr
    assert "the rule feedback is not enabled" in off
    made = semel("rules", "backfill", "made", "--yes", "--database", url, exits=2).stderr
    assert "only what a clock starts has a past" in made


def test_why_tells_what_will_run_and_what_will_not(semel: Semel, url: str) -> None:
    assert "2099-05-12 06:00:00Z  remind will run" in semel("why", "booking/b4", "--database", url).stdout
    told = semel("why", "booking/b2", "--database", url).stdout
    assert "remind will not run: booking.attendees is 2, wanted: at least 3" in told
    (ahead,) = objects(semel("why", "booking/b4", "--json", "--database", url))
    assert list(ahead) == ["rule", "version", "trigger", "entity", "date", "key", "status", "at", "reason"]
