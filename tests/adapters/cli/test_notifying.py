"""`semel notify`: what is wrong is named with its line, and what is right is taken, once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, write_lines


def ask(key: str, **more: Any) -> dict[str, Any]:
    return {"idempotency_key": key, "recipient": "member/m1", "type": "ready.reminders", **more}


def test_requests_of_a_file_are_taken_once(semel: Semel, folder: Path) -> None:
    name = write_lines(folder / "requests.jsonl", ask("a"), ask("b", payload={"x": 1}), ask("a"))
    assert "2 accepted · 1 replayed · 0 conflict · 0 refused" in semel("notify", name).stdout
    assert "0 accepted · 3 replayed · 0 conflict · 0 refused" in semel("notify", name).stdout
    assert "2 accepted · 1 replayed" in semel("notify", name, "--producer", "crm").stdout


def test_a_bad_line_is_named_and_takes_no_other_with_it(semel: Semel, folder: Path, database_url: str) -> None:
    name = write_lines(
        folder / "requests.jsonl", ask("a"), b"{", ask("", type="x"), ask("a", payload={"x": 1}), ask("b")
    )
    semel("--database", database_url, "init")
    result = semel("notify", name, "--database", database_url, exits=2)
    assert "requests.jsonl:2: this is not JSON" in result.stderr
    assert "requests.jsonl:3: idempotency_key: is empty" in result.stderr
    assert "requests.jsonl:3: type: there is no notification type 'x'" in result.stderr
    assert "requests.jsonl:4: idempotency_key: this key was used before, for another request" in result.stderr
    assert "2 accepted · 0 replayed · 1 conflict · 2 refused" in result.stdout
    rows = objects(semel("notify", name, "--database", database_url, "--json", exits=2))
    assert [(row["line"], row["status"]) for row in rows] == [
        (1, "replayed"),
        (2, "refused"),
        (3, "refused"),
        (4, "conflict"),
        (5, "replayed"),
    ]
    assert rows[0]["id"] == rows[3]["id"] != rows[4]["id"]


def test_a_pipe_is_read_too_and_what_is_asked_for_is_sent(semel: Semel, folder: Path) -> None:
    semel("ingest", write_lines(folder / "world.jsonl", *WORLD))
    (folder / "notifications.yaml").write_text("news:\n")
    (folder / "templates/news").mkdir(parents=True)
    (folder / "templates/news/email.en.liquid").write_text("Subject: News for {{ payload.who }}\n{{ payload.text }}")
    (folder / "templates/news/email.en.html.liquid").write_text("<p>{{ payload.text }}</p>")
    request = ask("a", type="news", payload={"who": "Mia", "text": "A < B"})
    semel("notify", "-", given=json.dumps(request).encode())
    semel("work", "--until-idle")
    [mail] = (folder / "outbox/email").glob("*.eml")
    assert "Subject: News for Mia" in mail.read_text()
    assert "A < B" in mail.read_text()


@pytest.mark.parametrize(("arguments", "message"), [(["nowhere.jsonl"], "nowhere.jsonl: No such file")])
def test_what_cannot_be_read_is_said_before_anything_is_taken(
    semel: Semel, folder: Path, arguments: list[str], message: str
) -> None:
    good = write_lines(folder / "requests.jsonl", ask("a"))
    assert message in semel("notify", good, *arguments, exits=2).stderr
    assert "1 accepted" in semel("notify", good).stdout


def test_nobody_can_ask_in_the_name_of_semel(semel: Semel, folder: Path) -> None:
    name = write_lines(folder / "requests.jsonl", ask("a"))
    assert "producer: begins with semel/" in semel("notify", name, "--producer", "semel/engine", exits=2).stderr
