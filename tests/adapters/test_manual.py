"""The reference pages say what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.manual import pages
from adapters.services.http import ANSWERS, path_of
from adapters.services.outside_settings import OutsideService, WebhookService

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", pages())
def test_the_page_is_up_to_date(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], "run `make manual`"


def test_every_plugin_and_noun_has_a_section() -> None:
    text = "".join(pages().values())
    titles = ("## booking.starting", "## at least", "## grant_access", "## invoice", "## web_push")
    for title in (*titles, "SEMEL_EMAIL__HOST"):
        assert title in text


def test_the_page_of_services_names_each_setting_path_and_id() -> None:
    text = (FOLDER / "service-api.md").read_text(encoding="utf-8")
    settings = {*OutsideService.model_fields, *WebhookService.model_fields}
    names = {*settings, *map(path_of, ANSWERS), *(name for names in ANSWERS.values() for name in names)}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []
