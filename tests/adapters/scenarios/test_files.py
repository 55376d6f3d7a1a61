"""Scenario files are read before any of them is run, and results know the lines that they are about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adapters.scenarios import Result, run_files
from domain.errors import InvalidInput

GOOD = """\
scenario: a task for each change
zone: Europe/Berlin
from: 2026-05-12 08:00
to: 2026-05-12 09:00
tick: 1 hour
rules:
  - {id: go, when: booking.changed, do: [{create_task: {title: Go}}]}
given:
  - booking.created:
      {booking_id: b1, member_id: m1, resource_id: r1, starts_at: 2026-05-12 12:00, ends_at: 2026-05-12 13:00}
timeline:
  - at: 2026-05-12 08:30
    booking.changed: {booking_id: b1, attendees: 2}
expect:
  runs:
    - {rule: go, entity: booking/b1, status: done}
"""
WRONG = GOOD.replace("status: done", "status: failed").replace("a task", "no task")


def written(folder: Path, name: str, text: str) -> Path:
    """Write a file."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def mistakes(*paths: Path) -> list[str]:
    """Return what is wrong with files."""
    with pytest.raises(InvalidInput) as caught:
        run_files(paths)
    return [str(mistake) for mistake in caught.value.mistakes]


def test_each_document_of_each_file_is_a_scenario(tmp_path: Path) -> None:
    written(tmp_path, "b.yaml", f"{GOOD}---\n{WRONG}---\n")
    written(tmp_path, "deeper/a.yml", GOOD)
    written(tmp_path, "notes.txt", "no scenario")
    finished: list[Result] = []
    results = run_files([tmp_path], finished=finished.append)
    assert [(result.scenario, result.ok) for result in results] == [
        ("a task for each change", True),
        ("no task for each change", False),
        ("a task for each change", True),
    ]
    assert finished == results


def test_a_difference_says_where_its_expectation_stands(tmp_path: Path) -> None:
    path = written(tmp_path, "wrong.yaml", WRONG)
    (result,) = run_files([path])
    told = "go for booking/b1 on 2026-05-12, done at 2026-05-12 08:30"
    assert result.lines() == [
        f"{path}:1:1: FAILED: no task for each change",
        f"  {path}:16:7: expected a run: rule go, entity booking/b1, status failed",
        "      found nothing like it",
        f"      nearest: {told}: status is done, not failed",
        f"  {path}:16:5: expected no other run",
        f"      found {told}",
    ]


def test_the_outcome_can_be_written_as_json(tmp_path: Path) -> None:
    (result,) = run_files([written(tmp_path, "wrong.yaml", WRONG)])
    found = json.loads(json.dumps(result.to_json()))
    assert (found["scenario"], found["ok"], len(found["differences"])) == ("no task for each change", False, 2)
    assert found["differences"][0]["path"] == "expect.runs.0"
    assert found["differences"][0]["place"].endswith("wrong.yaml:16:7")


def test_every_mistake_in_all_of_the_files_is_told_before_anything_is_run(tmp_path: Path) -> None:
    finished: list[Result] = []
    good = written(tmp_path, "good.yaml", GOOD)
    first = written(tmp_path, "first.yaml", GOOD.replace("booking.changed: {", "booking.chnged: {"))
    second = written(tmp_path, "second.yaml", f"{GOOD}---\n{GOOD.replace('rule: go', 'rule: gone')}")
    with pytest.raises(InvalidInput) as caught:
        run_files([good, first, second], finished=finished.append)
    places = [str(mistake).rpartition(": ")[0] for mistake in caught.value.mistakes]
    assert [place.split(": ")[0] for place in places] == [f"{first}:13:5", f"{second}:33:14"]
    assert finished == []


def test_rules_are_taken_from_a_file_beside(tmp_path: Path) -> None:
    rules = "rules:\n  - {id: go, when: booking.changed, do: [{create_task: {title: Go}}]}\n"
    lines = GOOD.splitlines(keepends=True)
    path = written(tmp_path, "here.yaml", "".join([*lines[:5], "rules: rules/all.yaml\n", *lines[7:]]))
    assert mistakes(path)[0].startswith(f"{path}:6:8: {tmp_path}/rules/all.yaml: cannot be read")
    beside = written(tmp_path, "rules/all.yaml", rules.replace("create_task", "creat_task"))
    assert f"{path}:6:8: {beside}:2:" in mistakes(path)[0]
    written(tmp_path, "rules/all.yaml", rules)
    assert [result.ok for result in run_files([path])] == [True]


def test_files_of_rules_in_a_folder_are_passed_over(tmp_path: Path) -> None:
    rules = written(tmp_path, "rules.yaml", "rules: []\n")
    written(tmp_path, "rules.scenario.yaml", GOOD)
    assert [result.ok for result in run_files([tmp_path])] == [True]
    assert "'scenario' is missing" in mistakes(rules)[0]


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    assert "cannot be read" in mistakes(tmp_path / "nowhere.yaml")[0]
    assert "no scenario" in mistakes(written(tmp_path, "empty.yaml", "\n"))[0]
    assert ":2:1: " in mistakes(written(tmp_path, "broken.yaml", "scenario: [\n"))[0]
    assert "no file in this folder" in mistakes(written(tmp_path, "none/x.txt", "").parent)[0]
    assert "no file in this folder" in mistakes(written(tmp_path, "rules/x.yaml", "rules: []\n").parent)[0]
