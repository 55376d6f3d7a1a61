"""`semel tick`, `sweep` and `resume`, on the clock of the machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from adapters.database.engine import connect, writing
from adapters.database.watermark import pause
from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, booking, write_lines, write_rules

RULES = """\
rules:
  - id: remind
    when: booking.starting
    before: 2 hours
    do:
      - create_task: {title: Remind}
"""
HOUR = timedelta(hours=1)


def in_hours(hours: float) -> str:
    """Return the instant that lies so many hours ahead of that of the machine."""
    return (datetime.now(UTC) + hours * HOUR).isoformat()


@pytest.fixture
def url(semel: Semel, folder: Path, database_url: str) -> str:
    """A database with a rule, and a booking that begins in an hour."""
    semel("init", "--database", database_url)
    semel("apply", write_rules(folder, RULES), "--database", database_url)
    soon = booking(1, starts_at=in_hours(1), ends_at=in_hours(2))
    semel("ingest", write_lines(folder / "e.jsonl", *WORLD, soon), "--database", database_url)
    return database_url


def paused(url: str, reason: str = "the clock was set ahead by 90 days") -> None:
    """Have clock triggers paused."""
    engine = connect(url)
    with writing(engine) as connection:
        pause(connection, reason)
    engine.dispose()


def test_a_tick_runs_what_is_due_and_the_next_one_nothing(semel: Semel, url: str) -> None:
    assert "runs: 1 done" in semel("tick", "--database", url).stdout
    assert "runs: none" in semel("tick", "--database", url).stdout
    assert [run["status"] for run in objects(semel("runs", "--json", "--database", url))] == ["done"]


def test_a_sweep_after_a_tick_finds_nothing_new(semel: Semel, url: str) -> None:
    semel("tick", "--database", url)
    told = semel("sweep", "--from", in_hours(-24), "--database", url).stdout
    assert "nothing new" in told
    assert "looked again from" in told


def test_a_sweep_finds_what_nobody_has_run_yet(semel: Semel, url: str) -> None:
    told = semel("sweep", "--from", in_hours(-24), "--to", in_hours(1), "--database", url).stdout
    assert "1 found that nobody had run" in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "a sweep needs its beginning"),
        (("--from", "yesterday"), "--from: 'yesterday' is not a local time"),
        (("--from", "2026-05-12", "--to", "2026-05-11"), "--to lies before --from"),
        (("--from", "2026-05-12", "--zone", "Europe/Berln"), "--zone: 'Europe/Berln' is not an IANA time zone"),
        (("--from", "2026-13-12"), "is not in the calendar"),
    ],
)
def test_times_that_cannot_be_meant_are_refused(semel: Semel, url: str, options: tuple[str, ...], message: str) -> None:
    assert message in semel("sweep", *options, "--database", url, exits=2).stderr


@pytest.mark.parametrize(
    ("options", "begin"),
    [
        (("--from", "2026-05-12T10:00:00+02:00"), "2026-05-12 07:59:59Z"),
        (("--from", "2026-05-12 10:00"), "2026-05-12 09:59:59Z"),
        (("--from", "2026-05-12 10:00", "--zone", "Europe/Berlin"), "2026-05-12 07:59:59Z"),
        (("--from", "2026-05-12", "--zone", "Europe/Berlin"), "2026-05-11 21:59:59Z"),
    ],
)
def test_times_have_an_offset_or_are_local_to_a_zone(
    semel: Semel, url: str, options: tuple[str, ...], begin: str
) -> None:
    assert f"looked again from {begin}" in semel("sweep", *options, "--database", url).stdout


def test_while_paused_nothing_is_run_and_the_remedy_is_told(semel: Semel, url: str) -> None:
    paused(url)
    assert "semel resume" in semel("tick", "--database", url, exits=2).stderr
    assert "semel resume" in semel("sweep", "--from", "2026-05-12", "--database", url, exits=2).stderr
    assert objects(semel("runs", "--json", "--database", url)) == []


def test_resume_shows_what_would_run_and_asks(semel: Semel, url: str) -> None:
    paused(url)
    told = semel("resume", "--database", url, exits=1, given="n\n").stdout
    assert "clock triggers are paused: the clock was set ahead by 90 days" in told
    assert ["remind", "1", "1", "0"] in [line.split() for line in told.splitlines()]
    semel("tick", "--database", url, exits=2)
    assert "act again" in semel("resume", "--database", url, given="y\n").stdout
    assert "runs: 1 done" in semel("tick", "--database", url).stdout


def test_resume_can_be_told_to_do_it_and_list_for_programs(semel: Semel, url: str) -> None:
    paused(url)
    expected = objects(semel("resume", "--json", "--database", url))
    assert [(each["rule"], each["missed"]) for each in expected] == [("remind", 0)]
    semel("tick", "--database", url, exits=2)
    semel("resume", "--yes", "--database", url)
    assert "clock triggers are not paused" in semel("resume", "--database", url).stdout
    semel("tick", "--database", url)
