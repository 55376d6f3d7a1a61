"""`semel types`: what there is, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.cli.conftest import Semel, objects


def test_the_types_are_listed_without_any_database(semel: Semel, folder: Path) -> None:
    (folder / "notifications.yaml").write_text("door.code: {first_of: [web_push, sms], useful_for: 15 minutes}\n")
    (folder / "templates/door.code").mkdir(parents=True)
    (folder / "templates/door.code/sms.de.liquid").write_text("{{ payload.code }}")
    result = semel("types")
    assert "door.code" in result.stdout
    assert "web_push or else sms" in result.stdout
    assert "hint: door.code has no template for web_push: what is sent there says only door.code" in result.stderr
    assert not (folder / "semel.db").exists()


def test_as_json(semel: Semel, folder: Path) -> None:
    (folder / "notifications.yaml").write_text("news: {lane: bulk}\n")
    rows = {row["type"]: row for row in objects(semel("types", "--json"))}
    assert rows["news"] == {
        "type": "news",
        "channels": [["email"]],
        "lane": "bulk",
        "urgency": "normal",
        "mandatory": False,
        "useful": "1 day",
        "languages": {},
    }
    assert rows["ready.reminders"]["languages"]["email"] == ["en", "es", "it"]


def test_a_mistake_is_named_with_its_place(semel: Semel, folder: Path) -> None:
    (folder / "notifications.yaml").write_text("news:\n  chanels: [email]\n")
    result = semel("types", exits=2)
    assert result.stderr == "notifications.yaml:2:3: there is no setting 'chanels'; did you mean channels?\n"
    assert result.stdout == ""


def test_nothing_is_sent_with_types_that_are_wrong(semel: Semel, folder: Path) -> None:
    (folder / "notifications.yaml").write_text("news:\n  chanels: [email]\n")
    result = semel("work", "--until-idle", exits=2)
    assert "notifications.yaml:2:3: there is no setting" in result.stderr
