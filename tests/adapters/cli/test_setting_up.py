"""`semel init` and `semel migrate`: a database is made, and brought up to date."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, write_lines


def age(folder: Path) -> None:
    """Make the database one of version 1, in which the table of deliveries was another one."""
    with sqlite3.connect(folder / "semel.db") as database:
        database.execute("UPDATE meta SET value = '1' WHERE name = 'schema-version'")
        database.execute("ALTER TABLE deliveries DROP COLUMN due_at")
    database.close()


def test_an_old_database_is_refused_until_it_is_brought_up_to_date(semel: Semel, folder: Path) -> None:
    semel("init")
    write_lines(folder / "e.jsonl", *WORLD)
    semel("ingest", "e.jsonl")
    semel("do", "notify", "--to", "member/m1", "--type", "ready.reminders")
    semel("work", "--until-idle")
    before = objects(semel("deliveries", "--json"))
    age(folder)
    assert "`semel migrate` brings it up to date" in semel("deliveries", exits=2).output
    assert "from version 1 to" in semel("migrate").stdout
    assert objects(semel("deliveries", "--json")) == before
    assert "is up to date" in semel("migrate").stdout


def test_what_is_not_set_up_cannot_be_brought_up_to_date(semel: Semel) -> None:
    semel("migrate", exits=2)


def test_a_variable_that_cannot_be_read_is_named_with_the_remedy(semel: Semel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMEL_HTTP", "garbage")
    told = semel("init", exits=2).output
    assert '"http"' in told
    assert "SEMEL_HTTP__PORT" in told
