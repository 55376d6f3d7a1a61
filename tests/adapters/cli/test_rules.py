"""`semel rules`: listed, shown, and switched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import RULES, write_rules


@pytest.fixture(autouse=True)
def rules(semel: Semel, folder: Path) -> None:
    """Two rules, published by Ana."""
    semel("apply", write_rules(folder), "--by", "Ana")


def test_rules_are_listed(semel: Semel) -> None:
    assert objects(semel("rules", "--json")) == [
        {
            "rule": "fee",
            "status": "enabled",
            "version": 1,
            "when": "booking.no_show",
            "once": "entity",
            "actions": ["charge_fee"],
            "name": "fee",
        },
        {
            "rule": "prepare",
            "status": "enabled",
            "version": 1,
            "when": "booking.created",
            "once": "event",
            "actions": ["create_task"],
            "name": "Prepare the room",
        },
    ]
    lines = semel("rules").stdout.splitlines()
    assert lines[0].split() == ["RULE", "STATUS", "VERSION", "WHEN", "ONCE", "ACTIONS", "NAME"]
    assert len(lines) == 3


def test_a_shown_rule_can_be_applied_again_and_changes_nothing(semel: Semel, folder: Path) -> None:
    shown = semel("rules", "show", "prepare").stdout
    assert shown.startswith("prepare, version 1: enabled\n")
    assert "drafted by Ana" in shown
    wording = shown[shown.index("rules:") :].partition("\n\n")[0]
    assert [one["done"] for one in objects(semel("apply", write_rules(folder, wording), "--json"))] == ["unchanged"]


def test_a_shown_rule_has_its_wording_and_its_life(semel: Semel) -> None:
    semel("rules", "disable", "prepare", "--by", "Bo")
    (found,) = objects(semel("rules", "show", "prepare", "--json"))
    assert found["wording"]["where"] == ["booking.attendees at least 3"]
    assert [(entry["what"], entry["by"]) for entry in found["history"]] == [
        ("drafted", "Ana"),
        ("enabled", "Ana"),
        ("disabled", "Bo"),
    ]


def test_a_rule_is_disabled_enabled_and_archived(semel: Semel) -> None:
    assert "fee is disabled" in semel("rules", "disable", "fee").stdout
    assert "was disabled already" in semel("rules", "disable", "fee").stdout
    assert status(semel) == "disabled"
    assert "fee is enabled, in version 1" in semel("rules", "enable", "fee").stdout
    assert "was enabled already" in semel("rules", "enable", "fee").stdout
    assert "fee is archived" in semel("rules", "archive", "fee").stdout
    assert "was archived already" in semel("rules", "archive", "fee").stdout
    assert status(semel) == "archived"
    assert "is archived" in semel("rules", "enable", "fee", exits=2).stderr


def status(semel: Semel) -> str:
    return str(objects(semel("rules", "--json"))[0]["status"])


def test_enabling_says_what_the_rule_will_do(semel: Semel) -> None:
    told = semel("rules", "enable", "fee").stdout
    assert "starts: every booking.no_show that is recorded from now on" in told
    assert "runs once for each booking, for ever" in told
    assert "calls: charge_fee → billing.charge_fee\n" in told
    assert "nobody is told" in told


def test_enabling_warns_of_a_service_that_is_not_there(semel: Semel, folder: Path) -> None:
    text = RULES.replace(
        'create_task: {title: "Chairs for {{ booking.attendees }}"}', "call_webhook: {url: 'https://example.org'}"
    )
    semel("apply", write_rules(folder, text))
    assert "no such service is set up: it will fail" in semel("rules", "enable", "prepare").stdout


@pytest.mark.parametrize("command", ["show", "enable", "disable", "archive"])
def test_an_unknown_rule_is_refused_with_the_nearest_name(semel: Semel, command: str) -> None:
    assert "did you mean prepare?" in semel("rules", command, "prepar", exits=2).stderr


def test_without_rules_the_list_says_how_to_get_some(semel: Semel, folder: Path) -> None:
    semel("--database", "sqlite:///other.db", "init")
    assert "semel apply" in semel("rules", "--database", "sqlite:///other.db").stdout
    assert objects(semel("rules", "--json", "--database", "sqlite:///other.db")) == []
