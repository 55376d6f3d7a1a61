"""`semel serve`, `semel token` and `semel user`, as people call them."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.application import Application, embedded_services
from adapters.database.engine import reading
from adapters.database.schema import queue
from adapters.ingestion.batches import ingest
from adapters.settings import read_settings
from adapters.web.server import WorkingThread
from automations.authoring import read_rules
from automations.ports import Call
from domain.commands import Command
from domain.endings import Done, Ending
from projections.executions import runs
from tests.adapters.cli.conftest import Semel, folder, objects, real_semel, semel  # noqa: F401 - fixtures
from tests.adapters.cli.samples import WORLD, booking, event

Start = Callable[..., subprocess.Popen[str]]

RULES = [{"id": "chairs", "when": "booking.created", "do": [{"create_task": {"title": "Chairs"}}]}]


def test_a_token_is_shown_once_listed_and_revoked(semel: Semel) -> None:  # noqa: F811
    made = semel("token", "create", "bridge", "--scope", "events:write", "--scope", "read", "--by", "ana")
    text = made.stdout.strip()
    assert text.startswith("semel_")
    [listed] = objects(semel("token", "list", "--json"))
    assert (listed["name"], listed["status"], listed["created_by"]) == ("bridge", "active", "ana")
    assert text not in json.dumps(listed)
    assert "already" not in semel("token", "revoke", "bridge").stdout
    assert objects(semel("token", "list", "--json"))[0]["status"] == "revoked"
    assert "already" in semel("token", "revoke", listed["id"]).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("token", "create", "a b", "--scope", "read"), "cannot be a name"),
        (("token", "create", "a", "--scope", "fly"), "there is no scope 'fly'"),
        (("token", "revoke", "nobody"), "no active token"),
        (("user", "add", "ana", "--role", "king", "--password-stdin"), "there is no role 'king'"),
        (("user", "add", "ana", "--password-stdin"), "a password has 10 to"),
        (("user", "role", "nobody", "admin"), "no user is called"),
    ],
)
def test_what_is_wrong_is_said(semel: Semel, arguments: tuple[str, ...], said: str) -> None:  # noqa: F811
    semel("init")
    assert said in semel(*arguments, given="short\n", exits=2).stderr


def test_two_active_tokens_have_two_names(semel: Semel) -> None:  # noqa: F811
    semel("token", "create", "bridge", "--scope", "read")
    assert "already" not in semel("token", "create", "other", "--scope", "read").stdout
    assert "active token called 'bridge'" in semel("token", "create", "bridge", "--scope", "read", exits=2).stderr


def test_a_rotated_token_has_the_same_name_and_scopes_and_both_are_revoked_by_it(semel: Semel) -> None:  # noqa: F811
    former = semel("token", "create", "bridge", "--scope", "read").stdout.strip()
    other = semel("token", "rotate", "bridge", "--hours", "2").stdout.strip()
    assert other.startswith("semel_")
    assert other != former
    first, second = objects(semel("token", "list", "--json"))
    assert (second["name"], second["scopes"], second["expires_at"]) == ("bridge", ["read"], None)
    assert first["expires_at"] is not None
    assert len(semel("token", "revoke", "bridge").stdout.splitlines()) == 2
    assert "no active token" in semel("token", "rotate", "bridge", exits=2).stderr


def test_users_are_added_changed_and_listed(semel: Semel) -> None:  # noqa: F811
    semel("user", "add", "ana", "--role", "staff", "--password-stdin", given="a long sentence\n")
    assert "already" in semel("user", "add", "ana", "--password-stdin", given="a long sentence\n", exits=2).stderr
    semel("user", "role", "ana", "admin")
    semel("user", "password", "ana", "--password-stdin", given="another sentence\n")
    semel("user", "disable", "ana")
    [found] = objects(semel("user", "list", "--json"))
    assert (found["name"], found["role"], found["status"]) == ("ana", "admin", "disabled")
    semel("user", "enable", "ana")
    assert objects(semel("user", "list", "--json"))[0]["status"] == "active"


def listening(process: subprocess.Popen[str]) -> str:
    """Return the address that a server says it listens at."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("listening at "), line
    return line.removeprefix("listening at ").strip()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_takes_events_runs_their_rules_and_stops_when_asked(
    semel: Semel,  # noqa: F811
    real_semel: Start,  # noqa: F811
    folder: Path,  # noqa: F811
    number: signal.Signals,
) -> None:
    (folder / "rules.yaml").write_text(json.dumps({"rules": RULES}), encoding="utf-8")
    semel("apply", "rules.yaml")
    token = semel("token", "create", "t", "--scope", "events:write", "--scope", "read").stdout.strip()
    process = real_semel("serve", "--port", "0", SEMEL_POLL_SECONDS="0.1")
    with httpx.Client(base_url=listening(process), headers={"authorization": f"Bearer {token}"}, timeout=60) as client:
        assert client.post("/v1/events", json=[*WORLD, booking(1)]).status_code == 202
        wait_until(lambda: [run["status"] for run in client.get("/v1/runs").json()["items"]] == ["done"])
        began = time.monotonic()
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert time.monotonic() - began < 10
    assert "Traceback" not in error


def test_without_workers_events_are_only_taken(semel: Semel, real_semel: Start) -> None:  # noqa: F811
    token = semel("token", "create", "t", "--scope", "events:write").stdout.strip()
    process = real_semel("serve", "--port", "0", "--no-workers")
    address = listening(process)
    answer = httpx.post(
        f"{address}/v1/events", json=event("1", "x.y", {}), headers={"authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 202
    assert httpx.get(f"{address}/readyz").json()["events_behind"] == 2
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_port_that_is_taken_is_said(semel: Semel, real_semel: Start) -> None:  # noqa: F811
    semel("init")
    address = listening(real_semel("serve", "--port", "0", "--no-workers"))
    second = real_semel("serve", "--port", address.rpartition(":")[2], "--no-workers")
    _, error = second.communicate(timeout=60)
    assert second.returncode == 2
    assert "cannot listen at 127.0.0.1" in error


class Slow:
    """A service that takes until it is allowed to answer."""

    name, honours_keys = "tasks", True

    def __init__(self) -> None:
        self.called, self.may_answer = threading.Event(), threading.Event()

    def perform(self, command: Command, call: Call) -> Ending:
        self.called.set()
        self.may_answer.wait(60)
        return Done()


@pytest.fixture
def slow() -> Iterator[Slow]:
    service = Slow()
    yield service
    service.may_answer.set()


def test_what_takes_too_long_is_given_back_at_once_and_done_by_the_next(slow: Slow, database_url: str) -> None:
    def services(application: Application) -> dict[str, Any]:
        return {**embedded_services(application), "tasks": slow}

    settings = read_settings(database_url=database_url, lease_seconds=600)
    application = Application(settings, services=services)
    application.install()
    application.save_rules([(one.rule, one.enabled) for one in read_rules(RULES)], "tests")
    ingest(application, [*WORLD, *map(booking, range(1, 4))])
    stop = threading.Event()
    working = WorkingThread(application, stop)
    working.start()
    assert slow.called.wait(60)
    stop.set()
    assert working.finish(0.2) is False
    with reading(application.engine) as connection:
        assert [row.owner for row in connection.execute(queue.select()) if row.queue == "actions"] == [None] * 3
    successor = Application(settings)
    successor.crew().work_through()
    with reading(successor.engine) as connection:
        assert [run["status"] for run in runs(connection)] == ["done"] * 3
    slow.may_answer.set()
    assert working.finish(60) is True
    with reading(successor.engine) as connection:
        assert [run["status"] for run in runs(connection)] == ["done"] * 3
    successor.close()
    application.close()


def wait_until(reached: Callable[[], bool]) -> None:
    for _ in range(600):
        if reached():
            return
        time.sleep(0.1)
    pytest.fail("it did not get there")
