"""`semel campaign`: many are told something, and staff keep a hand on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, event, write_lines


@pytest.fixture(autouse=True)
def world(semel: Semel, folder: Path) -> None:
    """A database in the folder with three members, two of whom are interested in yoga."""
    semel("init")
    people = [
        event(f"e{n}", "member.registered", {"member_id": f"n{n}", "name": "N", "email": f"n{n}@example.org"} | tags)
        for n, tags in enumerate([{"tags": ["yoga"]}, {"tags": ["yoga", "vip"]}, {}])
    ]
    write_lines(folder / "e.jsonl", *WORLD, *people)
    semel("ingest", "e.jsonl")
    (folder / "notifications.yaml").write_text(
        "news: {lane: bulk}\nbare: {channels: [email, sms], lane: bulk}\nplain: {}\n"
    )
    for name in ("news/email.en", "bare/email.de", "plain/email.en"):
        (folder / "templates" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "templates" / f"{name}.liquid").write_text("Subject: News\nYoga on Friday.\n")


def start(semel: Semel, *options: str, name: str = "yoga", exits: int = 0) -> str:
    return semel("campaign", "start", name, "--type", "news", "--by", "ana", *options, exits=exits).output


def test_members_with_a_tag_are_told_once(semel: Semel, folder: Path) -> None:
    for _ in range(2):
        start(semel, "--tag", "yoga")
        semel("work", "--until-idle")
    (row,) = objects(semel("campaign", "list", "--json"))
    assert (row["state"], row["members"], row["expanded"], row["by"]) == ("expanded", 2, 2, "ana")
    assert row["deliveries"] == {"sent": 2}
    assert len(list((folder / "outbox" / "email").glob("*.eml"))) == 2


def test_a_file_says_whom(semel: Semel, folder: Path) -> None:
    (folder / "to.txt").write_text("n1\n\nmember/n2\nn1\n")
    start(semel, "--to", "to.txt")
    (row,) = objects(semel("campaign", "show", "yoga", "--json"))
    assert row["members"] == 2


def test_everybody_is_everybody(semel: Semel) -> None:
    start(semel, "--all")
    (row,) = objects(semel("campaign", "list", "--json"))
    assert row["members"] == 4  # with the one of the world


def test_it_is_paused_resumed_and_cancelled(semel: Semel) -> None:
    start(semel, "--all")
    assert "paused" in semel("campaign", "pause", "yoga").stdout
    semel("work", "--until-idle")
    (row,) = objects(semel("campaign", "list", "--json"))
    assert (row["state"], row["deliveries"]) == ("paused", {})
    semel("campaign", "resume", "yoga")
    semel("campaign", "cancel", "yoga")
    semel("work", "--until-idle")
    assert "was cancelled already" in semel("campaign", "cancel", "yoga").stdout
    assert "was cancelled" in semel("campaign", "resume", "yoga", exits=2).output


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "say whom to address"),
        (("--all", "--tag", "yoga"), "say whom to address"),
        (("--tag", "chess"), "addresses nobody"),
        (("--to", "nowhere.txt"), "nowhere.txt cannot be read"),
        (("--all", "--type", "nwes"), "there is no notification type 'nwes'; did you mean news?"),
        (("--all", "--type", "bare"), "bare has no template for sms, so that everybody would read only its name"),
        (("--all", "--payload", "["), "this is no JSON"),
        (("--all", "--payload", "[1]"), "an object is needed"),
    ],
)
def test_a_mistake_is_told_with_the_remedy(semel: Semel, options: tuple[str, ...], told: str) -> None:
    assert told in start(semel, *options, exits=2)
    assert objects(semel("campaign", "list", "--json")) == []


def test_what_is_probably_meant_otherwise_is_said(semel: Semel, monkeypatch: pytest.MonkeyPatch) -> None:
    told = semel("campaign", "start", "one", "--type", "plain", "--all").stderr
    assert "plain is transactional" in told
    assert "no public_url is set" in told
    monkeypatch.setenv("SEMEL_PUBLIC_URL", "https://semel.example.org")
    assert semel("campaign", "start", "two", "--type", "news", "--all").stderr == ""


def test_the_same_name_for_another_campaign_is_refused(semel: Semel) -> None:
    start(semel, "--all")
    assert "is there already" in start(semel, "--tag", "yoga", exits=2)
