"""`semel rehearse` shows what a rule would have done over recorded history."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import RULES, WORLD, booking, write_lines, write_rules


@pytest.fixture
def url(semel: Semel, folder: Path, database_url: str) -> str:
    """A database with a rule and two bookings, one of which it wants."""
    semel("init", "--database", database_url)
    semel("ingest", write_lines(folder / "e.jsonl", *WORLD, booking(2), booking(4)), "--database", database_url)
    semel("apply", write_rules(folder), "--database", database_url)
    return database_url


def test_a_saved_rule_is_rehearsed_with_every_call_and_every_no(semel: Semel, url: str) -> None:
    told = semel("rehearse", "prepare", "--database", url).stdout
    assert "booking/b2  2026-05-01  would not run: booking.attendees is 2, wanted: at least 3" in told
    assert "booking/b4  2026-05-01  would run\n    tasks.create entity=booking/b4" in told
    assert 'title="Chairs for 4"' in told
    assert told.endswith("1 would not run, 1 would run\n")


def test_the_array_holds_runs_that_never_were(semel: Semel, url: str) -> None:
    no, yes = objects(semel("rehearse", "prepare", "--json", "--database", url))
    assert (no["status"], yes["status"], yes["rule"], yes["version"]) == ("would not run", "would run", "prepare", 1)
    assert yes["conditions"] == [
        {"fact": "booking.attendees", "operator": "at least", "verdict": "true", "value": 3, "seen": 4}
    ]
    assert [call["arguments"]["title"] for call in yes["calls"]] == ["Chairs for 4"]
    assert objects(semel("rehearse", "prepare", "--json", "--matching", "--database", url)) == [yes]
    assert objects(semel("rehearse", "prepare", "--json", "--from", "2026-05-02", "--database", url)) == []


def test_a_rule_file_is_rehearsed_without_being_published(semel: Semel, folder: Path, url: str) -> None:
    before = semel("rules", "--json", "--database", url).stdout
    changed = write_rules(folder, RULES.replace("at least 3", "at least 2").replace("prepare", "other"), "new.yml")
    told = semel("rehearse", changed, "--matching", "--database", url).stdout
    assert told.count("other  booking/b") == 2
    assert semel("rules", "--json", "--database", url).stdout == before


def test_what_cannot_be_rehearsed_is_refused_with_its_place(semel: Semel, folder: Path, url: str) -> None:
    assert "no rule is called 'prepar'" in semel("rehearse", "prepar", "--database", url, exits=2).stderr
    wrong = write_rules(folder, RULES.replace("at least 3", "at leats 3"), "wrong.yaml")
    assert "wrong.yaml:6:27" in semel("rehearse", wrong, "--database", url, exits=2).stderr
    assert "--from" in semel("rehearse", "prepare", "--from", "soon", "--database", url, exits=2).stderr


def test_where_nothing_happened_it_says_so(semel: Semel, url: str) -> None:
    assert semel("rehearse", "fee", "--database", url).stdout == "nothing could have started it\n"
