"""The reference pages say what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.manual import pages

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", pages())
def test_the_page_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], "run `make manual`"


def test_every_plugin_and_noun_has_a_section() -> None:
    text = "".join(pages().values())
    for title in ("## booking.starting", "## at least", "## grant_access", "## invoice"):
        assert title in text
