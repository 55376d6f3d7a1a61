"""What staff do about dossiers on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import ROOM, WORLD, booking, event, write_lines

RULES = """\
rules:
  - id: door
    name: Open the door
    when: booking.created
    do:
      - grant_access: {door: "{{ resource.door }}", from: booking.starts_at, until: booking.ends_at}
"""
NO_DOOR = {**ROOM, "resource_id": "r2", "door": None}


@pytest.fixture
def dossier(semel: Semel, folder: Path) -> str:
    """The dossier of two bookings of a room whose door nobody knows, in a database of the folder."""
    (folder / "rules.yaml").write_text(RULES, encoding="utf-8")
    semel("init")
    semel("apply", "rules.yaml")
    bookings = [booking(1, resource_id="r2"), booking(2, resource_id="r2")]
    write_lines(folder / "events.jsonl", *WORLD, event("room2", "resource.added", NO_DOOR), *bookings)
    semel("ingest", "events.jsonl")
    semel("work", "--until-idle")
    (found,) = objects(semel("dossiers", "--json"))
    return str(found["dossier"])


def keys(semel: Semel) -> list[str]:
    """Return the keys of all runs."""
    return [str(run["key"]) for run in objects(semel("runs", "--json"))]


def statuses(semel: Semel) -> list[str]:
    """Return the status of each run, after somebody has worked."""
    semel("work", "--until-idle")
    return [str(run["status"]) for run in objects(semel("runs", "--json"))]


def test_all_of_one_cause_are_retried_and_close_their_dossier(semel: Semel, folder: Path, dossier: str) -> None:
    door = event("door", "resource.changed", {"resource_id": "r2", "door": "d2"}, "2026-05-02T10:00:00+02:00")
    write_lines(folder / "more.jsonl", door)
    semel("ingest", "more.jsonl")
    assert semel("dossiers", "retry", dossier[:6], "--by", "ana").stdout == "retry: 2 of 2 runs\n"
    assert statuses(semel) == ["done", "done"]
    semel("dossiers", "--fail")


def test_one_run_is_named_by_the_beginning_of_its_key(semel: Semel, dossier: str) -> None:
    first, second = keys(semel)
    semel("dossiers", "done", first[:10], "--reason", "let them in")
    semel("dossiers", "dismiss", second, "--reason", "did not come")
    assert statuses(semel) == ["done", "failed"]
    assert objects(semel("dossiers", "--json")) == []


def test_what_is_refused_says_why_and_exits_2_if_nothing_was_done(semel: Semel, dossier: str) -> None:
    assert "a dismissal needs a reason" in semel("dossiers", "dismiss", dossier, exits=2).stderr
    semel("dossiers", "done", dossier)
    key = keys(semel)[0]
    refused = semel("dossiers", "retry", key, exits=2)
    assert "only running it again on purpose" in refused.stderr
    assert refused.stdout == "retry: 0 of 1 runs\n"
    (told,) = objects(semel("dossiers", "retry", key, "--json", exits=2))
    assert (told["key"], told["done"], told["rule"]) == (key, False, "door")
    assert "on purpose" in told["refused"]


def test_some_may_be_refused_while_others_are_done(semel: Semel, dossier: str) -> None:
    first, second = keys(semel)
    semel("dossiers", "done", first)
    both = semel("dossiers", "dismiss", first, second, "--reason", "over", "--json")
    assert [each["done"] for each in objects(both)] == [False, True]


def test_a_run_that_is_done_is_run_again_on_purpose(semel: Semel, dossier: str) -> None:
    first = keys(semel)[0]
    semel("dossiers", "done", first)
    assert "needs a reason" in semel("dossiers", "run-again", first, exits=2).stderr
    assert "has no action 3" in semel("dossiers", "run-again", first, "--reason", "x", "--action", "3", exits=2).stderr
    assert (
        semel("dossiers", "run-again", first, "--reason", "try", "--action", "1").stdout == "run-again: 1 of 1 runs\n"
    )
    assert statuses(semel)[0] == "failed"


def test_a_dossier_has_somebody_and_notes(semel: Semel, dossier: str) -> None:
    assert semel("dossiers", "assign", dossier, "ben").stdout == f"dossier {dossier} is in the hands of ben\n"
    semel("dossiers", "note", dossier, "the door has no number yet", "--by", "ben")
    semel("work", "--until-idle")
    assert objects(semel("dossiers", "--json"))[0]["assigned_to"] == "ben"
    assert semel("dossiers", "assign", dossier, "").stdout == f"nobody looks after dossier {dossier} any more\n"
    history = json.loads(semel("dossiers", "export", dossier).stdout)["history"]
    assert [(each["what"], each["by"]) for each in history][1:3] == [("assigned", history[1]["by"]), ("noted", "ben")]
    assert history[2]["note"] == "the door has no number yet"


def test_a_dossier_is_exported_as_json_or_as_a_page(semel: Semel, folder: Path, dossier: str) -> None:
    document = json.loads(semel("dossiers", "export", dossier).stdout)
    assert (document["dossier"], len(document["runs"])) == (dossier, 2)
    assert semel("dossiers", "export", dossier, "--html").stdout.startswith("<!doctype html>")
    assert semel("dossiers", "export", dossier, "-o", "d.html").stdout == f"dossier {dossier} is in d.html\n"
    assert (folder / "d.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    semel("dossiers", "export", dossier, "-o", "d.json")
    assert json.loads((folder / "d.json").read_text(encoding="utf-8")) == document
    told = semel("dossiers", "export", dossier, "-o", str(folder / "none" / "d.json"), exits=2)
    assert "cannot be written" in told.stderr


@pytest.mark.parametrize("command", ["retry", "done", "dismiss", "run-again"])
def test_what_is_not_there_is_refused(semel: Semel, dossier: str, command: str) -> None:
    for name in ("zzzz", ""):
        told = semel("dossiers", command, name, "--reason", "x", exits=2)
        assert f"no dossier, no run and no delivery is called {name!r}" in told.stderr


@pytest.mark.parametrize("command", [["assign", "zzzz", "ben"], ["note", "zzzz", "x"], ["export", "zzzz"]])
def test_a_dossier_that_is_not_there_is_refused(semel: Semel, dossier: str, command: list[str]) -> None:
    assert "no dossier is called 'zzzz'" in semel("dossiers", *command, exits=2).stderr


def test_a_closed_dossier_can_be_listed_and_shown(semel: Semel, dossier: str) -> None:
    (before,) = objects(semel("dossiers", "--all", "--json"))
    assert objects(semel("dossiers", "--closed", "--json")) == []
    assert semel("dossiers", "--closed").stdout == "no dossier is closed\n"
    semel("dossiers", "dismiss", dossier, "--reason", "the door is a curtain")
    semel("work", "--until-idle")
    assert objects(semel("dossiers", "--json")) == []
    for option in ("--closed", "--all"):
        (found,) = objects(semel("dossiers", option, "--json"))
        assert found.keys() == before.keys()
        assert (found["dossier"], found["runs"], found["since"]) == (dossier, 0, before["since"])
        assert found["closed_at"] > found["since"]
        assert "2 dismissed" in semel("dossiers", option, "--fail").stdout
    told = semel("dossiers", "show", dossier).stdout
    assert "closed at" in told
    assert told.count("the door is a curtain") >= 2
    assert len(objects(semel("dossiers", "show", dossier, "--json"))) == 2


def test_open_dossiers_come_before_closed_ones(semel: Semel, dossier: str) -> None:
    assert objects(semel("dossiers", "--all", "--json"))[0]["closed_at"] is None
    semel("dossiers", "--all", "--fail", exits=1)
    semel("dossiers", "--closed", "--fail", exits=1)
