"""Every error is a message and an exit code; only a fault of ours may show a traceback, and only if asked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from adapters.cli.faults import hoisted, reported
from domain.errors import Conflict, CorruptEvent, InvalidInput, Mistake, Unavailable
from tests.adapters.cli.conftest import Semel
from tests.adapters.cli.samples import WORLD, booking, write_lines

READING = (["runs"], ["why", "booking/b1"], ["rules"], ["dossiers"], ["rebuild"], ["rules", "show", "x"])


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_looking_makes_no_database(semel: Semel, folder: Path, command: list[str]) -> None:
    result = semel(*command, exits=2)
    assert result.stderr == "semel.db: there is no such file; `semel init` makes it\n"
    assert not list(folder.iterdir())


@pytest.mark.parametrize("command", [*READING, ["ingest", "e.jsonl"], ["work"]], ids=" ".join)
def test_a_database_that_is_named_has_to_be_set_up(
    semel: Semel, folder: Path, blank_database_url: str, command: list[str]
) -> None:
    write_lines(folder / "e.jsonl", *WORLD)
    result = semel(*command, "--database", blank_database_url, exits=2)
    assert "`semel init`" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "this is not a database URL"),
        ("mysql://somewhere/x", "is not a database that Semel works on"),
        ("sqlite:///no/such/folder/x.db", "there is no folder no/such/folder"),
        ("postgresql+psycopg://nobody:secret@127.0.0.1:1/x", "no connection"),
    ],
)
def test_a_database_that_cannot_be_used_is_named_without_its_password(semel: Semel, url: str, message: str) -> None:
    result = semel("init", "--database", url, exits=2)
    assert message in result.stderr
    assert "secret" not in result.output


def test_the_database_comes_from_a_variable_and_an_option_wins(
    semel: Semel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMEL_DATABASE_URL", "sqlite:///variable.db")
    semel("init")
    semel("init", "--database", "sqlite:///option.db")
    assert sorted(path.name for path in folder.glob("*.db")) == ["option.db", "variable.db"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("default_zone = 'Europe/Berln'", "settings.default_zone: 'Europe/Berln' is not an IANA time zone"),
        ("default_zone = ", "semel.toml: "),
        ("colour = 'red'", "settings.colour"),
        ("lease_seconds = -1\npoll_seconds = 'x'", "settings.poll_seconds"),
        ("rates = {emial = 10}", "there is no channel 'emial'; did you mean email?"),
    ],
)
def test_wrong_settings_are_named(semel: Semel, folder: Path, text: str, message: str) -> None:
    (folder / "semel.toml").write_text(text, encoding="utf-8")
    assert message in semel("init", exits=2).stderr
    assert not (folder / "semel.db").exists()


@pytest.mark.parametrize(
    "text",
    [
        "[callbacks.generic]\nsecret = 'hunter2'",
        "[email]\nhost = 'localhost'\npassword = 7654321",
        "[email]\nhost = 'localhost'\npasword = 'hunter2'",
        "[sms]\naccount = 'a'\ntoken = 7654321",
        "database_url = ['hunter2']",
    ],
)
def test_no_mistake_repeats_a_secret(semel: Semel, folder: Path, text: str) -> None:
    (folder / "semel.toml").write_text(text, encoding="utf-8")
    told = semel("init", exits=2).stderr
    assert "settings." in told
    assert "hunter2" not in told
    assert "7654321" not in told


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("SEMEL_DATABSE_URL", "no setting is called databse_url; did you mean database_url?"),
        ("semel_default_zones", "no setting is called default_zones; did you mean default_zone?"),
        ("SEMEL_HTP__PORT", "no setting is called htp; did you mean http?"),
        ("SEMEL_PORT", ""),  # made by whatever runs containers, for a service of our name
        ("SEMEL_HTTP__PORT", ""),
    ],
)
def test_a_variable_that_was_meant_for_a_setting_is_told(
    semel: Semel, monkeypatch: pytest.MonkeyPatch, variable: str, hint: str
) -> None:
    monkeypatch.setenv(variable, "8080")
    told = semel("init").stderr
    assert told == (f"{variable} sets nothing: {hint}\n" if hint else "")


def test_a_password_that_nobody_can_be_asked_for_names_the_option(semel: Semel) -> None:
    semel("init")
    assert "--password-stdin" in semel("user", "add", "ana", exits=2, given="correct horse battery").stderr
    assert "ana" in semel("user", "add", "ana", "--password-stdin", given="correct horse battery").stdout


def test_setting_up_twice_changes_nothing(semel: Semel) -> None:
    assert "semel.db is set up" in semel("init").stdout
    assert "semel.db was set up already" in semel("init").stdout


@pytest.mark.parametrize("arguments", [["nonsense"], ["ingest"], ["runs", "--nonsense"], ["why"], []])
def test_wrong_usage_exits_2(semel: Semel, arguments: list[str]) -> None:
    assert "Usage: " in semel(*arguments, exits=2).stderr or not arguments


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (InvalidInput([Mistake(("a", 1), "is wrong"), Mistake((), "so is this")]), 2, "a.1: is wrong\nso is this\n"),
        (Unavailable("later"), 2, "later\n"),
        (Conflict("again"), 2, "again\n"),
        (CorruptEvent("booking/b1", 3, "booking.created", "broken"), 2, "booking.created at version 3 of booking/b1"),
        (KeyboardInterrupt(), 130, "stopped\n"),
        (
            ValueError("odd"),
            70,
            "a fault in Semel, not in what you wrote: ValueError: odd\nrun it again with --traceback",
        ),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    error: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as raised, reported():
        raise error
    assert raised.value.exit_code == code
    assert capsys.readouterr().err.startswith(told)


def test_a_traceback_is_shown_if_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), reported(show_traceback=True):
        raise ValueError("odd")
    assert "Traceback" in capsys.readouterr().err


def test_global_options_may_stand_anywhere_but_behind_two_dashes() -> None:
    assert hoisted(["runs", "--database", "x", "--json", "-v"]) == ["--database", "x", "-v", "runs", "--json"]
    assert hoisted(["runs", "--schema=s"]) == ["--schema=s", "runs"]
    assert hoisted(["ingest", "--", "--database"]) == ["ingest", "--", "--database"]
    assert hoisted(["runs", "--database"]) == ["--database", "runs"]


def test_a_reader_that_leaves_ends_the_command_quietly(
    semel: Semel, folder: Path, real_semel: Callable[..., subprocess.Popen[str]]
) -> None:
    semel("ingest", write_lines(folder / "e.jsonl", *(booking(number) for number in range(3_000))))
    process = real_semel("ingest", "e.jsonl", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(100)
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == ""


def test_help_imports_no_engine(real_semel: Callable[..., subprocess.Popen[str]]) -> None:
    process = real_semel("--help", PYTHONPROFILEIMPORTTIME="1")
    _, error = process.communicate(timeout=60)
    for heavy in ("sqlalchemy", "pydantic", "eventsourcing", "psycopg", "structlog", "ruamel"):
        assert f" {heavy}\n" not in error
