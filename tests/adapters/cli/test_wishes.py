"""What members want, and addresses that must not be written to, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.application import Application
from adapters.database.suppressing import SuppressionDesk
from adapters.settings import Settings
from tests.adapters.cli.conftest import Semel
from tests.adapters.cli.samples import WORLD, write_lines


@pytest.fixture(autouse=True)
def database(semel: Semel, folder: Path) -> None:
    """A database with a member, and one type beside those of Semel and of a rule."""
    semel("init")
    (folder / "notifications.yaml").write_text("news: {}\n")
    semel("ingest", write_lines(folder / "e.jsonl", *WORLD))


def shown(semel: Semel, *arguments: str) -> Any:
    return json.loads(semel("preferences", "m1", *arguments, "--json").output)


def test_a_choice_is_made_shown_and_taken_back(semel: Semel) -> None:
    assert shown(semel)["choices"] == []
    [choice] = shown(semel, "--type", "news", "--channel", "sms", "--set", "off")["choices"]
    assert (choice["type"], choice["channel"], choice["enabled"], choice["how"]) == ("news", "sms", False, "preference")
    table = semel("preferences", "member/m1").output.splitlines()
    assert table[1].split()[:4] == ["news", "sms", "off", "preference"]
    assert shown(semel, "--type", "news", "--channel", "sms", "--set", "unset")["choices"] == []


def test_every_type_on_every_channel(semel: Semel) -> None:
    [choice] = shown(semel, "--set", "off")["choices"]
    assert (choice["type"], choice["channel"]) == ("", "")
    assert "all   all" in semel("preferences", "m1").output


def test_quiet_hours_of_ones_own_none_and_those_of_the_space(semel: Semel) -> None:
    own = shown(semel, "--quiet", "22:00-08:00", "--day", "friday")
    assert own["quiet_hours"] == {"start": "22:00", "end": "08:00", "days": ["friday"]}
    assert "quiet hours: 22:00 to 08:00 on friday" in semel("preferences", "m1").output
    none = shown(semel, "--quiet", "none")
    assert (none["own_quiet_hours"], none["quiet_hours"]) == (True, None)
    assert shown(semel, "--quiet", "space")["own_quiet_hours"] is False


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--quiet", "22:00-22:00"], "they end where they begin"),
        (["--quiet", "late"], "write them like 22:00-08:00"),
        (["--quiet", "none", "--day", "monday"], "--day goes with quiet hours"),
        (["--type", "news"], "say what to do with it"),
        (["--type", "No Type", "--set", "off"], "there is no notification type 'No Type'"),
        (["--type", "nwes", "--set", "off"], "there is no notification type 'nwes'; did you mean news?"),
        (["--channel", "emial", "--set", "off"], "there is no channel 'emial'; did you mean email?"),
    ],
)
def test_what_makes_no_sense_is_refused(semel: Semel, arguments: list[str], told: str) -> None:
    assert told in semel("preferences", "m1", *arguments, exits=2).output


def test_a_type_that_only_a_rule_tells_can_be_refused_too(semel: Semel, folder: Path) -> None:
    (folder / "rules.yaml").write_text("rules: [{id: hi, name: Hi, when: booking.created, do: [{notify: {type: hi}}]}]")
    semel("apply", "rules.yaml")
    [choice] = shown(semel, "--type", "hi", "--set", "off")["choices"]
    assert choice["type"] == "hi"


def test_a_wish_about_a_type_that_is_gone_can_be_taken_back(semel: Semel, folder: Path) -> None:
    shown(semel, "--type", "news", "--set", "off")
    (folder / "notifications.yaml").unlink()
    assert shown(semel, "--type", "news", "--set", "unset")["choices"] == []


def test_a_member_who_does_not_exist_wishes_nothing(semel: Semel) -> None:
    assert "there is no member 'm404'" in semel("preferences", "m404", "--set", "off", exits=2).output


def test_suppressions_are_listed_and_lifted(semel: Semel, folder: Path) -> None:
    assert "nothing is suppressed" in semel("suppressions").output
    application = Application(Settings.model_validate({"database_url": f"sqlite:///{folder / 'semel.db'}"}))
    desk = SuppressionDesk(application.log, application.clock, application.salt)
    desk.suppress("email", "mia@example.org", "complaint", member="m1", source="e1")
    application.close()
    semel("work", "--until-idle")
    assert json.loads(semel("suppressions", "--member", "m2", "--json").output) == []
    [row] = json.loads(semel("suppressions", "--member", "member/m1", "--json").output)
    assert (row["channel"], row["why"], row["member"], row["expires_at"]) == ("email", "complaint", "m1", None)
    assert "mia" not in json.dumps(row)
    assert "complaint" in semel("suppressions", "lift", row["suppression"], "--reason", "asked for it").output
    assert "stands" in semel("suppressions", "lift", row["suppression"], "--reason", "again", exits=2).output
    semel("work", "--until-idle")
    assert json.loads(semel("suppressions", "--json").output) == []
