"""`semel check` and `semel apply`: mistakes with their places, and everything published or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import RULES, write_rules


def test_good_rules_pass(semel: Semel, folder: Path) -> None:
    assert semel("check", write_rules(folder)).stdout == "2 rules checked: no mistake\n"
    assert not (folder / "semel.db").exists()


WRONG: dict[str, tuple[str, str]] = {
    "an unknown fact": (
        RULES.replace("booking.attendees at least 3", "booking.atendees at least 3"),
        "rules.yaml:6:9: ",
    ),
    "an unknown action": (RULES.replace("create_task", "create_taks"), "rules.yaml:8:9: "),
    "an unknown trigger": (RULES.replace("booking.created", "booking.create"), "rules.yaml:4:11: "),
    "a cyclic alias": (
        "rules: &all\n  - id: a\n    do: *all\n",
        "rules.yaml:3:9: *all stands inside of what it repeats",
    ),
    "a bomb of aliases": (
        "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
        + "".join(
            f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdef", "bcdefg", strict=True)
        ),
        "rules.yaml:",
    ),
    "no YAML": ("rules: [", "rules.yaml:"),
    "no list": ("rules: 7\n", "rules.yaml:1:8: "),
    "nothing": ("", "rules.yaml:1:1: the file is empty"),
    "a key that stands twice": ("rules: []\nrules: []\n", "rules.yaml:2:1: "),
    "a character that no text holds": ("rules: []\0\n", "rules.yaml:1:10: the character U+0000"),
}


@pytest.mark.parametrize("command", ["check", "apply"])
@pytest.mark.parametrize("fault", WRONG)
def test_a_mistake_is_named_with_its_place_and_publishes_nothing(
    semel: Semel, folder: Path, command: str, fault: str
) -> None:
    text, place = WRONG[fault]
    result = semel(command, write_rules(folder, text), exits=2)
    assert result.stderr.startswith(place), result.stderr
    assert "Traceback" not in result.output
    assert not (folder / "semel.db").exists()


def test_the_nearest_name_is_told(semel: Semel, folder: Path) -> None:
    text = RULES.replace("booking.attendees at least 3", "booking.atendees at least 3")
    assert "did you mean booking.attendees?" in semel("check", write_rules(folder, text), exits=2).stderr


def test_what_is_no_text_is_refused_with_its_place(semel: Semel, folder: Path) -> None:
    (folder / "rules.yaml").write_bytes(b"rules:\n  - id: \xff\n")
    assert semel("check", "rules.yaml", exits=2).stderr.startswith("rules.yaml:2:9: ")


def test_a_file_that_is_not_there_is_named(semel: Semel) -> None:
    assert semel("check", "missing.yaml", exits=2).stderr == "missing.yaml: No such file or directory\n"


def test_all_mistakes_of_all_files_come_at_once(semel: Semel, folder: Path) -> None:
    first = write_rules(folder, WRONG["an unknown fact"][0], "1.yaml")
    second = write_rules(folder, WRONG["an unknown action"][0], "2.yaml")
    found = objects(semel("check", first, second, "--json", exits=2))
    assert [(one["severity"], one["file"], one["line"], one["column"]) for one in found] == [
        ("mistake", "1.yaml", 6, 9),
        ("mistake", "2.yaml", 8, 9),
    ]


def test_a_rule_cannot_stand_in_two_files(semel: Semel, folder: Path) -> None:
    names = [write_rules(folder, name=name) for name in ("1.yaml", "2.yaml")]
    assert "2.yaml: the rule prepare stands in 1.yaml too" in semel("check", *names, exits=2).stderr


WAITING = """\
rules:
  - id: dun
    when: invoice.issued
    where:
      - invoice.days_overdue above 3
    do:
      - create_task: {title: Dun}
"""


def test_a_fact_that_only_time_changes_is_a_warning_with_its_place(semel: Semel, folder: Path) -> None:
    name = write_rules(folder, WAITING)
    result = semel("check", name)
    assert result.stderr.startswith("rules.yaml:5:7: warning: invoice.days_overdue")
    assert "after: 3 days" in result.stderr
    (found,) = objects(semel("check", name, "--json"))
    assert found["severity"] == "warning"


def test_applying_says_what_became_of_each_rule(semel: Semel, folder: Path) -> None:
    name = write_rules(folder)
    assert objects(semel("apply", name, "--json", "--by", "Ana")) == [
        {"rule": "prepare", "done": "drafted and enabled", "version": 1},
        {"rule": "fee", "done": "drafted and enabled", "version": 1},
    ]
    assert [one["done"] for one in objects(semel("apply", name, "--json"))] == ["unchanged", "unchanged"]
    changed = RULES.replace("at least 3", "at least 4").replace("once: entity", "once: entity\n    enabled: false")
    assert objects(semel("apply", write_rules(folder, changed), "--json")) == [
        {"rule": "prepare", "done": "revised", "version": 2},
        {"rule": "fee", "done": "disabled", "version": 1},
    ]


def test_one_wrong_file_keeps_all_from_being_published(semel: Semel, folder: Path) -> None:
    good, bad = write_rules(folder), write_rules(folder, "rules: 7\n", "bad.yaml")
    assert "nothing was published" in semel("apply", good, bad, exits=2).stderr
    assert not (folder / "semel.db").exists()


def test_on_both_databases(semel: Semel, folder: Path, database_url: str) -> None:
    semel("init", "--database", database_url)
    semel("apply", write_rules(folder), "--database", database_url)
    assert [one["rule"] for one in objects(semel("rules", "--json", "--database", database_url))] == ["fee", "prepare"]
