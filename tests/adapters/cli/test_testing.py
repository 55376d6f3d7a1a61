"""`semel test` runs scenario files, says what differs, and exits accordingly."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.cli.conftest import Semel, objects

SCENARIO = """\
scenario: a booking for three needs chairs
zone: Europe/Berlin
from: 2026-05-10 00:00
to: 2026-05-11 00:00
tick: 1 hour
rules:
  - id: chairs
    when: booking.created
    where: [booking.attendees at least 3]
    do:
      - create_task: {title: Chairs}
timeline:
  - at: 2026-05-10 09:00
    booking.created: {booking_id: b1, member_id: m1, resource_id: r1, attendees: 3,
      starts_at: 2026-05-12 10:00, ends_at: 2026-05-12 12:00}
expect:
  runs:
    - {rule: chairs, entity: booking/b1, status: done}
"""


def write(folder: Path, text: str, name: str = "chairs.yaml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return name


def test_what_is_as_expected_passes(semel: Semel, folder: Path) -> None:
    result = semel("test", write(folder, SCENARIO))
    assert "chairs.yaml:1:1: passed: a booking for three needs chairs" in result.stdout
    assert "1 passed, 0 failed" in result.stdout
    assert not (folder / "semel.db").exists()


def test_what_differs_is_told_with_its_place_and_exits_1(semel: Semel, folder: Path) -> None:
    wrong = SCENARIO.replace("status: done", "status: failed")
    result = semel("test", write(folder, wrong), exits=1)
    assert "chairs.yaml:1:1: FAILED" in result.stdout
    assert "chairs.yaml:18:7: " in result.stdout
    (found,) = objects(semel("test", "chairs.yaml", "--json", exits=1))
    assert (found["scenario"], found["ok"]) == ("a booking for three needs chairs", False)


def test_a_folder_is_searched(semel: Semel, folder: Path) -> None:
    (folder / "scenarios").mkdir()
    write(folder / "scenarios", SCENARIO)
    assert "1 passed" in semel("test", "scenarios").stdout


def test_a_mistake_in_a_file_exits_2_before_anything_runs(semel: Semel, folder: Path) -> None:
    good, bad = (
        write(folder, SCENARIO),
        write(folder, SCENARIO.replace("booking.attendees", "booking.atendees"), "bad.yaml"),
    )
    result = semel("test", good, bad, exits=2)
    assert result.stderr.startswith("bad.yaml:9:")
    assert "passed" not in result.stdout


def test_scenarios_run_on_the_database_that_is_named(semel: Semel, folder: Path, database_url: str) -> None:
    assert "1 passed" in semel("test", write(folder, SCENARIO), "--database", database_url).stdout
