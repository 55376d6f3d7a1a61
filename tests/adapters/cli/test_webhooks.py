"""`semel webhooks`: programs that get events, and a real process that is killed while it calls one."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.adapters.channels.http_service import HttpService, Received, Reply
from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, booking, write_lines
from tests.adapters.webhooks.place import verifies


@pytest.fixture
def service() -> Iterator[HttpService]:
    """A receiver that does what it is told."""
    service = HttpService()
    yield service
    service.close()


@pytest.fixture
def secret(semel: Semel, folder: Path, service: HttpService) -> str:
    """The secret of the webhook `books`, which gets what happens to bookings."""
    (folder / "semel.toml").write_text("[webhooks]\nallow_private = true\n")
    made = semel("webhooks", "add", "books", f"{service.url}/hook", "--topic", "booking.*", "--by", "ana")
    text = made.stdout.strip()
    assert text.startswith("whsec_")
    write_lines(folder / "e.jsonl", *WORLD, booking(1))
    semel("ingest", "e.jsonl")
    return text


def test_events_go_out_while_it_works(semel: Semel, secret: str, service: HttpService) -> None:
    semel("work", "--until-idle")
    [received] = service.received
    assert verifies(received, secret)
    (row,) = objects(semel("deliveries", "--channel", "webhook/books", "--json"))
    assert (row["type"], row["to"], row["status"]) == ("booking.created", "webhook/books", "sent")
    assert "webhook/books  booking.created sent" in semel("why", "booking/b1").output


def test_webhooks_are_listed_and_shown_without_their_secret(semel: Semel, secret: str) -> None:
    semel("work", "--until-idle")
    (row,) = objects(semel("webhooks", "list", "--json"))
    assert (row["webhook"], row["status"], row["topics"], row["deliveries"]) == (
        "books", "enabled", ["booking.*"], {"sent": 1},
    )  # fmt: skip
    assert "1 sent" in semel("webhooks", "list").output
    shown = json.loads(semel("webhooks", "show", "books", "--json").stdout)
    assert [(each["what"], each["by"]) for each in shown["history"]] == [("added", "ana")]
    assert "added by ana" in semel("webhooks", "show", "books").output
    assert secret not in semel("webhooks", "show", "books", "--json").output


def test_every_act_says_what_it_did(semel: Semel, secret: str, service: HttpService) -> None:
    assert semel("webhooks", "pause", "books").output == "books: paused\n"
    semel("webhooks", "test", "books", exits=2)
    assert semel("webhooks", "resume", "books").output == "books: goes on\n"
    assert "goes out next" in semel("webhooks", "test", "books").output
    assert "booking.created to" in semel("webhooks", "change", "books", "--topic", "booking.created").output
    assert "since 2020-01-01" in semel("webhooks", "replay", "books", "--from", "2020-01-01").output
    new = json.loads(semel("webhooks", "rotate", "books", "--json").stdout)["secret"]
    semel("work", "--until-idle")
    assert [(verifies(each, secret), verifies(each, new)) for each in service.received] == [(True, True)] * 2
    assert semel("webhooks", "remove", "books").output == "books: removed\n"
    assert "no webhook yet" in semel("webhooks", "list").output


def test_what_failed_can_be_sent_anew(semel: Semel, secret: str, service: HttpService) -> None:
    service.answer = Reply(410)
    semel("work", "--until-idle")
    assert "410" in semel("webhooks", "show", "books").output
    service.answer = Reply(200)
    semel("webhooks", "resume", "books")
    (row,) = objects(semel("webhooks", "retry", "books", "--json"))
    assert row["refused"] == ""
    semel("work", "--until-idle")
    assert semel("webhooks", "retry", "books").output == "nothing failed\n"
    assert len(service.received) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("add", "books", "https://example.org/", "--topic", "booking.*"), "already"),
        (("add", "more", "https://example.org/", "--topic", "boking.*"), "did you mean booking.*?"),
        (("add", "more", "gopher://x", "--topic", "booking.*"), "URL"),
        (("show", "more"), "no webhook 'more'"),
        (("pause", "more"), "no webhook 'more'"),
        (("retry", "more"), "no webhook 'more'"),
        (("replay", "books", "--from", "yesterday"), "--from"),
    ],
)
def test_what_cannot_be_exits_2_and_says_why(semel: Semel, secret: str, arguments: tuple[str, ...], told: str) -> None:
    assert told in semel("webhooks", *arguments, exits=2).output


@pytest.mark.slow
def test_a_process_that_is_killed_in_the_call_neither_loses_nor_doubles_an_event(
    semel: Semel,
    real_semel: Callable[..., subprocess.Popen[str]],
    secret: str,
    service: HttpService,
    folder: Path,
) -> None:
    wanted = 13
    write_lines(folder / "more.jsonl", *(booking(number) for number in range(2, wanted + 1)))
    semel("ingest", "more.jsonl")
    quickly = {"SEMEL_LEASE_SECONDS": "0.5", "SEMEL_POLL_SECONDS": "0.1"}
    killed: list[int] = []
    running: list[subprocess.Popen[str]] = []

    def kill_some(received: Received) -> Reply:
        if len(service.received) in (3, 7):
            running[-1].kill()
            killed.append(len(service.received))
        return Reply(200)

    service.answer = kill_some
    for _ in range(3):
        running.append(real_semel("work", **quickly))
        end = time.monotonic() + 30
        while running[-1].poll() is None and time.monotonic() < end:
            if len({each.headers["webhook-id"] for each in service.received}) == wanted:
                break
            time.sleep(0.05)
    running[-1].terminate()
    running[-1].communicate(timeout=30)
    assert len(killed) == 2
    assert {json.loads(each.body)["data"]["entity"] for each in service.received} == {
        f"booking/b{number}" for number in range(1, wanted + 1)
    }
    semel("work", "--until-idle")
    rows = objects(semel("deliveries", "--channel", "webhook/books", "--json"))
    assert [row["status"] for row in rows] == ["sent"] * wanted
