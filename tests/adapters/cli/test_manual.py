"""The reference page says what the command is."""

from __future__ import annotations

from adapters.cli.manual import manual
from tests.adapters.cli.conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "command.md"


def test_the_reference_page_is_not_stale() -> None:
    remedy = "write it anew: python -m adapters.cli.manual > docs/reference/command.md"
    assert PAGE.read_text(encoding="utf-8") == manual(), remedy


def test_every_command_of_the_contract_so_far_is_there() -> None:
    page = manual()
    for command in ("demo", "init", "ingest", "check", "apply", "work", "runs", "dossiers", "why", "test", "rebuild"):
        assert f"## `semel {command}`" in page
    for command in ("show", "enable", "disable", "archive"):
        assert f"### `semel rules {command}`" in page
