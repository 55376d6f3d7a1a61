"""`semel ingest`: what is wrong is named with its place, and what is right is recorded."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adapters.cli.conftest import CALL, ROOT, Semel, objects
from tests.adapters.cli.samples import WORLD, booking, event, write_lines

Start = Callable[..., subprocess.Popen[str]]


def test_events_are_recorded_once_in_the_default_file(semel: Semel, folder: Path) -> None:
    name = write_lines(folder / "events.jsonl", *WORLD, booking(1))
    assert "4 accepted · 0 duplicate · 0 conflict · 0 refused" in semel("ingest", name).stdout
    assert (folder / "semel.db").exists()
    assert "0 accepted · 4 duplicate · 0 conflict · 0 refused" in semel("ingest", name).stdout


def test_on_both_databases(semel: Semel, folder: Path, database_url: str) -> None:
    name = write_lines(folder / "events.jsonl", *WORLD, booking(1), {**booking(1), "sequence": "7"}, b"{")
    semel("--database", database_url, "init")
    result = semel("ingest", name, "--database", database_url, "--json", exits=2)
    assert [(line["line"], line["status"]) for line in objects(result)] == [
        (1, "accepted"),
        (2, "accepted"),
        (3, "accepted"),
        (4, "accepted"),
        (5, "conflict"),
        (6, "refused"),
    ]
    assert not (folder / "semel.db").exists()


NAIVE = "data.starts_at: 2026-05-12T10:00:00 has no offset"
WRONG: dict[str, tuple[bytes, str]] = {
    "truncated JSON": (b'{"id": "1", "source": "te', "this is not JSON: EOF while parsing"),
    "a line of 100 MB": (b"x" * 100_000_000, "is longer than 1,000,000 bytes"),
    "wrong body": (
        json.dumps(event("1", "booking.created", {"booking_id": "b"})).encode(),
        "data.resource_id: is missing",
    ),
    "naive time": (json.dumps(booking(1, starts_at="2026-05-12T10:00:00")).encode(), NAIVE),
    "bare number": (json.dumps(booking(1, price=18.5)).encode(), "data.price: 18.5 is a bare number"),
    "unknown zone": (
        json.dumps(event("1", "space.opened", {**WORLD[0]["data"], "time_zone": "Europe/Berln"})).encode(),
        "did you mean Europe/Berlin?",
    ),
    "NUL": (json.dumps(booking(1, booking_id="b\0")).encode(), "data.booking_id: holds the unprintable character"),
    "a bare NUL": (b'{"id": "\0"}', "this is not JSON: control character"),
    "lone surrogate": (json.dumps(booking(1, booking_id="b\ud800")).encode(), "this is not JSON"),
    "invalid UTF-8": (b'{"id": "\xff"}', "is not UTF-8"),
    "nested bomb": (b"[" * 500_000, "this is not JSON: recursion limit exceeded"),
    "no number": (b'{"id": NaN}', "this is not JSON"),
    "twice": (b'{"id": "1", "id": "2"}', "stands twice in one object"),
    "no object": (b"[]", "an event must be a JSON object"),
    "huge number": (
        json.dumps(booking(1)).replace('"attendees": 1', f'"attendees": {"9" * 3000}').encode(),
        "data.attendees",
    ),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_line_is_named_and_its_neighbours_are_recorded(semel: Semel, folder: Path, fault: str) -> None:
    line, message = WRONG[fault]
    name = write_lines(folder / "events.jsonl", *WORLD, line, booking(2))
    result = semel("ingest", name, exits=2)
    assert result.stderr.startswith("events.jsonl:4: ")
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert "4 accepted · 0 duplicate · 0 conflict · 1 refused" in result.stdout
    assert "all other lines are recorded" in result.stdout
    assert "0 accepted · 4 duplicate" in semel("ingest", name, exits=2).stdout


@pytest.mark.parametrize("fault", WRONG)
def test_all_or_nothing_records_nothing_if_a_line_is_wrong(semel: Semel, folder: Path, fault: str) -> None:
    name = write_lines(folder / "events.jsonl", *WORLD, WRONG[fault][0], booking(2))
    result = semel("ingest", "--all-or-nothing", name, exits=2)
    assert result.stderr.startswith("events.jsonl:4: ")
    assert "nothing was recorded: 1 lines have to be mended first" in result.stdout
    assert "0 duplicate" in semel("ingest", name, exits=2).stdout


def test_all_faults_of_a_line_are_told_each_in_a_line(semel: Semel, folder: Path) -> None:
    name = write_lines(folder / "e.jsonl", event("1", "booking.created", {"starts_at": "2026-05-12T10:00:00"}))
    told = semel("ingest", name, exits=2).stderr.splitlines()
    assert len(told) == 5
    assert all(line.startswith("e.jsonl:1: data.") for line in told)


def test_unknown_types_are_stored_and_counted(semel: Semel, folder: Path) -> None:
    name = write_lines(folder / "e.jsonl", event("1", "coffee.brewed", {"cups": 3}), event("2", "coffee.brewed", {}))
    result = semel("ingest", name)
    assert "2 accepted" in result.stdout
    assert "2 of them have the type coffee.brewed, which no rule can see" in result.stdout


def test_a_misspelt_type_is_told_with_the_nearest_known_one(semel: Semel, folder: Path) -> None:
    result = semel("ingest", write_lines(folder / "e.jsonl", event("1", "bookin.created", {})))
    assert "stored and counted; did you mean booking.created?" in result.stdout


@pytest.mark.parametrize(("name", "shown"), [("", "."), (".", "."), ("events", "events")])
def test_a_folder_is_no_file_of_events(semel: Semel, folder: Path, name: str, shown: str) -> None:
    (folder / "events").mkdir()
    assert semel("ingest", name, exits=2).stderr == f"{shown}: this is a folder; name the files in it\n"


def test_a_conflict_changes_nothing_and_is_told(semel: Semel, folder: Path) -> None:
    name = write_lines(folder / "e.jsonl", *WORLD, booking(1), {**booking(2), "id": "booking-1"})
    result = semel("ingest", name, exits=2)
    assert result.stderr.startswith("e.jsonl:5: this source used this id before")
    assert "4 accepted · 0 duplicate · 1 conflict" in result.stdout
    assert "nothing is recorded about booking/b2" in semel("why", "booking/b2").stdout.replace("was ever", "is")


def test_all_or_nothing_sees_conflicts_across_files(semel: Semel, folder: Path) -> None:
    first = write_lines(folder / "1.jsonl", booking(1))
    second = write_lines(folder / "2.jsonl", {**booking(2), "id": "booking-1"})
    result = semel("ingest", "--all-or-nothing", first, second, "--json", exits=2)
    assert [(line["file"], line["status"]) for line in objects(result)] == [
        ("1.jsonl", "not recorded"),
        ("2.jsonl", "conflict"),
    ]
    assert "1 accepted" in semel("ingest", "--all-or-nothing", first).stdout


@pytest.mark.parametrize("options", [[], ["--all-or-nothing"]])
@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_packed_or_not(semel: Semel, options: list[str], packed: bool) -> None:
    content = b"\n".join(json.dumps(one).encode() for one in WORLD)
    given = gzip.compress(content) if packed else content
    assert "3 accepted" in semel("ingest", "-", *options, given=given).stdout


def test_lines_of_a_pipe_are_named_after_it(semel: Semel) -> None:
    assert semel("ingest", "-", given=b"\n{}\n", exits=2).stderr.startswith("standard input:2: id: ")


def test_no_file_is_begun_before_all_can_be_read(semel: Semel, folder: Path) -> None:
    name = write_lines(folder / "events.jsonl", *WORLD)
    result = semel("ingest", name, "missing.jsonl", exits=2)
    assert result.stderr == "missing.jsonl: No such file or directory\n"
    assert "3 accepted" in semel("ingest", name).stdout


def test_the_longest_line_is_a_setting(semel: Semel, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMEL_LONGEST_LINE", "1000")
    name = write_lines(folder / "e.jsonl", booking(1, note="x" * 2_000))
    assert "is longer than 1,000 bytes (the setting longest_line)" in semel("ingest", name, exits=2).stderr


def test_the_array_of_an_empty_file_is_empty(semel: Semel, folder: Path) -> None:
    (folder / "e.jsonl").touch()
    assert objects(semel("ingest", "e.jsonl", "--json")) == []


def test_ctrl_c_keeps_what_is_recorded_and_says_so(semel: Semel, folder: Path, real_semel: Start) -> None:
    name = write_lines(folder / "events.jsonl", *(booking(number) for number in range(20_000)))
    process = real_semel("ingest", name, "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    out = process.stdout.read(2_000)
    process.send_signal(signal.SIGINT)
    out += process.stdout.read()
    error = process.stderr.read()
    assert process.wait() == 130
    assert error.startswith("stopped: at least ")
    assert "Traceback" not in error
    answered = json.loads(out)
    assert 0 < len(answered) < 20_000
    assert {line["status"] for line in answered} == {"accepted"}
    (folder / "some.jsonl").write_bytes(b"\n".join((folder / name).read_bytes().splitlines()[: len(answered)]))
    assert f"{len(answered):,} duplicate" in semel("ingest", "some.jsonl").stdout


def test_on_a_terminal_there_is_a_bar_and_messages_stay_whole(folder: Path) -> None:
    pty = pytest.importorskip("pty", exc_type=ImportError)
    name = write_lines(folder / "events.jsonl", *WORLD, b"{", *map(booking, range(300)))
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", CALL, "ingest", name],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "60"},
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=writer,
    )
    os.close(writer)
    shown = b""
    with contextlib.suppress(OSError):  # which is how a terminal says that nobody is left at the other end
        while part := os.read(reader, 65_536):
            shown += part
    os.close(reader)
    assert process.wait() == 2
    assert b"ingesting " in shown
    assert "━".encode() in shown
    assert b"events.jsonl:4: this is not JSON: EOF while parsing an object at character 1\r\n" in shown
    assert shown.rstrip().endswith(b"nothing is recorded twice")
