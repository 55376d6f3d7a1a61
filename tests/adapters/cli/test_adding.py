"""`semel rules add` lists ready rules, and copies one into the folder of the operator."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.cli.conftest import Semel, objects


def test_without_a_name_the_ready_rules_are_listed(semel: Semel) -> None:
    found = objects(semel("rules", "add", "--json"))
    assert [each["name"] for each in found] == [
        "access-instructions",
        "cleaning-task",
        "overdue-invoice",
        "reminders",
        "renewal-talk",
    ]
    assert "semel rules add NAME" in semel("rules", "add").stdout


def test_a_copied_rule_can_be_tried_and_published_as_is_said(semel: Semel, folder: Path) -> None:
    told = semel("rules", "add", "cleaning-task").stdout
    assert "semel apply cleaning-task.yaml" in told
    assert "passed" in semel("test", "cleaning-task.scenario.yaml").stdout
    semel("init")
    semel("apply", "cleaning-task.yaml")
    assert [each["rule"] for each in objects(semel("rules", "--json"))] == ["cleaning-task"]


def test_nothing_is_overwritten(semel: Semel, folder: Path) -> None:
    semel("rules", "add", "reminders")
    (folder / "reminders.yaml").write_text("rules: []\n")
    assert "is there already" in semel("rules", "add", "reminders", exits=2).stderr
    assert (folder / "reminders.yaml").read_text() == "rules: []\n"


def test_files_go_into_another_folder_with_their_wording_if_wanted(semel: Semel, folder: Path) -> None:
    semel("rules", "add", "overdue-invoice", "--into", "mine", "--wording")
    assert (folder / "mine/overdue-invoice.yaml").exists()
    assert (folder / "mine/templates/ready.overdue-invoice/email.it.liquid").exists()


def test_an_unknown_name_is_refused(semel: Semel) -> None:
    assert "did you mean reminders?" in semel("rules", "add", "reminder", exits=2).stderr
