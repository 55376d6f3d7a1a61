"""`semel restore` puts a backup in place, and everything waits until `semel resume`."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.adapters.cli.conftest import Semel, objects
from tests.adapters.cli.samples import WORLD, booking, write_lines, write_rules


def test_a_restored_database_waits_until_it_is_resumed(semel: Semel, folder: Path) -> None:
    semel("apply", write_rules(folder))
    semel("ingest", write_lines(folder / "e.jsonl", *WORLD, booking(4)))
    shutil.copy(folder / "semel.db", folder / "backup.db")
    assert "is there already" in semel("restore", "backup.db", exits=2).stderr
    told = semel("restore", "backup.db", "--force").stdout
    assert "what was there before is kept as semel.db.before-restore-" in told
    assert "semel resume" in told
    assert "everything waits" in semel("work", "--until-idle").stderr
    assert objects(semel("runs", "--json")) == []
    assert "are paused" in semel("tick", exits=2).stderr
    told = semel("resume", given="n\n", exits=1).stdout
    assert "events that no rule has looked at" in told
    semel("resume", "--yes")
    semel("work", "--until-idle")
    assert [run["status"] for run in objects(semel("runs", "--json"))] == ["done"]


def test_any_database_can_be_marked_as_restored(semel: Semel, folder: Path, database_url: str) -> None:
    semel("init", "--database", database_url)
    semel("apply", write_rules(folder), "--database", database_url)
    semel("ingest", write_lines(folder / "e.jsonl", *WORLD, booking(4)), "--database", database_url)
    assert "semel resume" in semel("restore", "--mark", "--database", database_url).stdout
    semel("work", "--until-idle", "--database", database_url)
    assert objects(semel("runs", "--json", "--database", database_url)) == []
    assert "waits" in semel("rules", "backfill", "prepare", "--database", database_url, exits=2).stderr


def test_wrong_usage_is_explained(semel: Semel, folder: Path, postgresql_url: str) -> None:
    assert "--mark" in semel("restore", exits=2).stderr
    assert "--mark" in semel("restore", "x.db", "--mark", exits=2).stderr
    assert "pg_restore" in semel("restore", "x.db", "--database", postgresql_url, exits=2).stderr
    assert "no such file" in semel("restore", "x.db", exits=2).stderr
