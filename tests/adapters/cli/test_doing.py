"""`semel do`: each operation of each service, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, booking, event, write_lines

TIMES = ("--from", "2026-08-01T09:00:00+02:00", "--until", "2026-08-01T17:00:00+02:00")
SUBSCRIPTION = {
    "subscription_id": "s1",
    "space_id": "mitte",
    "member_id": "m1",
    "plan": "desk",
    "starts_on": "2026-01-01",
    "ends_on": "2026-12-31",
}
OPERATIONS = [
    ("issue-invoice", "--member", "m1", "--space", "mitte", "--total", "50 EUR", "--due", "2026-08-01", "--text", "a"),
    ("charge-fee", "--member", "m1", "--amount", "5 EUR", "--reason", "a key"),
    ("grant-access", "--entity", "booking/b1", "--door", "d1", *TIMES),
    ("revoke-access", "--entity", "booking/b1", "--door", "d1"),
    ("create-task", "--space", "mitte", "--title", "Clean", "--due", "2026-08-01T09:00:00+02:00", "--assignee", "ben"),
    ("offer-renewal", "--subscription", "s1", "--text", "stay"),
    ("notify", "--to", "member/m1", "--type", "hello", "--payload", '{"n": 1}'),
]


@pytest.fixture(autouse=True)
def world(semel: Semel, folder: Path) -> None:
    """A database in the folder, with a space, a room, a member, a booking and a subscription."""
    semel("init")
    (folder / "notifications.yaml").write_text("hello: {}\n")
    write_lines(folder / "e.jsonl", *WORLD, booking(1), event("sub", "subscription.started", SUBSCRIPTION))
    semel("ingest", "e.jsonl")


def done(semel: Semel, *command: str, exits: int = 0) -> dict[str, Any]:
    """Return what an operation came to."""
    told: dict[str, Any] = json.loads(semel("do", *command, "--json", exits=exits).stdout)
    return told


@pytest.mark.parametrize("command", OPERATIONS, ids=lambda command: command[0])
def test_an_operation_is_done_at_once_and_stands_among_the_runs(semel: Semel, command: tuple[str, ...]) -> None:
    run = done(semel, *command, "--by", "ana")
    assert (run["status"], run["origin"], run["trigger"], run["repeat"]) == ("done", "staff", "staff", False)
    assert run["attempts"][0]["idempotency_key"] == f"{run['key']}/0"
    semel("work", "--until-idle")
    (listed,) = objects(semel("runs", "--json"))
    assert (listed["key"], listed["status"]) == (run["key"], "done")


def test_people_read_what_the_service_answered(semel: Semel) -> None:
    told = semel("do", *OPERATIONS[0], "--key", "k1").stdout
    assert told.startswith("billing.issue_invoice: done, invoice_id invoice-")
    assert "number mitte-00001" in told


def test_the_same_key_does_nothing_twice_and_another_request_is_refused(semel: Semel) -> None:
    first = done(semel, *OPERATIONS[0], "--key", "k1")
    again = done(semel, *OPERATIONS[0], "--key", "k1")
    assert (again["key"], again["repeat"], again["idempotency_key"]) == (first["key"], True, "k1")
    assert "nothing was done a second time" in semel("do", *OPERATIONS[0], "--key", "k1").stdout
    refused = semel("do", *OPERATIONS[1], "--key", "k1", exits=2)
    assert "was used for another request" in refused.stderr


def test_what_fails_exits_1_and_stands_in_a_dossier(semel: Semel) -> None:
    command = ("charge-fee", "--member", "m1", "--amount", "0 EUR", "--reason", "x")
    assert "semel dossiers shows it" in semel("do", *command, exits=1).stderr
    semel("work", "--until-idle")
    (found,) = objects(semel("dossiers", "--json"))
    assert (found["operation"], found["ending"], found["runs"]) == ("billing.charge_fee", "refused", 1)
    told = semel("dossiers", "show", found["dossier"]).stdout
    assert "the amount 0.00 EUR is not above zero" in told


def test_a_service_that_is_not_there_is_told(semel: Semel) -> None:
    run = done(semel, "call-webhook", "--url", "https://example.org/x", "--entity", "booking/b1", exits=1)
    assert "no service is set up" in run["reason"]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("charge-fee", "--amount", "5 EUR", "--reason", "x"), "say what it is about"),
        (("charge-fee", "--amount", "5", "--reason", "x", "--member", "m1"), "amount: "),
        (("issue-invoice", "--total", "5 EUR", "--due", "soon", "--space", "mitte"), "--due: "),
        (("grant-access", "--member", "m1", "--door", "d1", "--from", "9", "--until", "10"), "--from: "),
        (
            ("notify", "--to", "staff", "--type", "x", "--entity", "booking/b1", "--payload", "[1]"),
            "--payload is a JSON",
        ),
        (("notify", "--to", "staff", "--type", "x", "--entity", "booking/b1", "--payload", "{"), "this is not JSON"),
    ],
)
def test_wrong_input_is_named_and_changes_nothing(semel: Semel, command: tuple[str, ...], told: str) -> None:
    assert told in semel("do", *command, exits=2).stderr
    semel("work", "--until-idle")
    assert objects(semel("runs", "--json")) == []
