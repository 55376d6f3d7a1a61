"""The ready rules are checked, shown by scenarios, worded in three languages, and copied without overwriting."""

from __future__ import annotations

import html as html_module
import re
from collections.abc import Iterator
from datetime import date, datetime
from importlib import resources
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from adapters.ready_rules import ReadyFile, copy, ready_file, ready_files
from adapters.scenarios.files import read_files, run
from adapters.wording import packaged_templates, packaged_types
from automations.advice import advice_on
from automations.notifications.wordings import HTML, Wordings
from automations.templates import render, render_html
from domain.errors import InvalidInput
from domain.money import Money
from domain.notices import is_notice
from domain.rules import Rule, Step
from tests.databases import Databases

NAMES = ("access-instructions", "cleaning-task", "overdue-invoice", "reminders", "renewal-talk")
LOCALES = ("en", "it", "es")
ROME = ZoneInfo("Europe/Rome")

FACTS: dict[str, object] = {
    "resource.name": "Sala 1",
    "resource.door": "d1",
    "member.name": "Ana",
    "booking.starts_at": datetime(2026, 5, 12, 10, tzinfo=ROME),
    "booking.ends_at": datetime(2026, 5, 12, 12, tzinfo=ROME),
    "space.name": "Centro",
    "invoice.invoice_id": "i1",
    "invoice.due_on": date(2026, 4, 1),
    "invoice.outstanding": Money.parse("250.00 EUR"),
    "subscription.plan": "flex",
    "subscription.ends_on": date(2026, 5, 31),
    "reminder.about": "Call Bea",
}
COUNTS = {"runs": 2, "done": 1, "by_hand": 0, "no_longer_needed": 0, "dismissed": 1}
ABOUT = {"dossier": "d1", "cause": "access does not answer", "rule": "r1", "reason": "restored"}
MESSAGES = {
    "messages": 5,
    "channel": "email",
    "types": "5 news",
    "webhook": "books",
    "url": "https://books.example.org",
}
PAYLOAD = {**COUNTS, **ABOUT, **MESSAGES, "missed": 1, "late": 3, "from": "A", "to": "B", "text": "T", "since": "S"}


class Facts:
    """What every entity has at least, and nothing else."""

    def value(self, path: str) -> object | None:
        """Return the value of a fact."""
        return FACTS.get(path)

    def reference(self, path: str) -> str | None:
        """Return that nothing is personal."""
        return None


@pytest.fixture(scope="module")
def url(databases: Databases) -> Iterator[str]:
    """A database in which each scenario gets a schema of its own; embedded ones get a file instead."""
    with databases.fresh(blank=True) as fresh:
        yield fresh


def steps(kind: str) -> Iterator[tuple[Rule, Step]]:
    """Yield every step of a kind in the ready rules, with its rule."""
    for file in ready_files().values():
        for authored in file.authored:
            yield from ((authored.rule, step) for step in authored.rule.do if step.action == kind)


def test_the_rules_that_every_space_writes_first_are_there() -> None:
    assert tuple(ready_files()) == NAMES
    assert [file.rules for file in ready_files().values()] == [
        ["access-instructions", "access-moved", "access-left", "access-withdrawn"],
        ["cleaning-task"],
        ["overdue-invoice"],
        ["reminders"],
        ["renewal-talk"],
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_ready_rule_says_what_it_is_for_and_nothing_speaks_against_it(name: str) -> None:
    file = ready_file(name)
    assert file.about.endswith(".")
    assert [advice for authored in file.authored for advice in advice_on(authored.rule)] == []
    assert all(authored.enabled for authored in file.authored)


@pytest.mark.parametrize("name", NAMES)
def test_the_scenarios_of_a_ready_rule_go_as_they_are_written(name: str, url: str, tmp_path: Path) -> None:
    written = read_files([copy(ready_file(name), tmp_path)[1]])
    for scenario in written:
        result = run(scenario, url)
        assert result.ok, "\n".join(result.lines())


def test_every_type_that_a_ready_rule_uses_is_there_without_being_defined_and_named_after_it() -> None:
    used = {str(step.settings["type"]) for _, step in steps("notify")}
    assert used == {f"ready.{name}" for name in NAMES if name != "cleaning-task"}
    assert used == {name for name in packaged_types() if not is_notice(name)}


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", sorted(packaged_types()))
def test_every_packaged_type_has_wording_in_three_languages_on_each_of_its_channels(name: str, locale: str) -> None:
    wordings = Wordings(packaged_templates())
    for channel in packaged_types()[name].channels:
        found = wordings.find(name, channel, [locale])
        assert found is not None
        assert found.locale == locale


@pytest.mark.parametrize("name", sorted(packaged_templates()))
def test_every_template_can_be_filled_in_with_what_every_entity_has(name: str) -> None:
    text, locale = packaged_templates()[name], name.removesuffix(HTML).rpartition(".")[2]
    assert locale in LOCALES
    if name.endswith(HTML):
        filled = [render_html(text, Facts(), locale, beside={"payload": PAYLOAD})]
        assert f'<html lang="{locale}">' in text
        assert name.removesuffix(HTML) in packaged_templates()
    else:
        filled = [
            render(part, Facts(), locale, lines=True, beside={"payload": PAYLOAD}) for part in text.split("\n", 1)
        ]
    assert "".join(filled).strip()
    assert "{" not in "".join(filled)


@pytest.mark.parametrize("locale", LOCALES)
def test_html_says_the_same_as_the_text_beside_it(locale: str) -> None:
    for name, text in packaged_templates().items():
        if name.endswith(f".{locale}{HTML}"):
            html = render_html(text, Facts(), locale)
            beside = packaged_templates()[name.removesuffix(HTML)].split("\n", 1)[1]
            words = html_module.unescape(re.sub("<[^>]+>", " ", re.sub("</?strong>", "", html)))
            assert words.split() == render(beside, Facts(), locale, lines=True).split(), name


@pytest.mark.parametrize(
    ("locale", "title"), [("it-IT", "Pulire Sala 1"), ("es", "Limpiar Sala 1"), ("de", "Clean Sala 1")]
)
def test_the_title_of_a_task_comes_in_the_language_of_the_space(
    locale: str, title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((_, step),) = [(rule, step) for rule, step in steps("create_task") if rule.id == "cleaning-task"]
    monkeypatch.setitem(FACTS, "space.locale", locale)
    assert render(str(step.settings["title"]), Facts(), locale).strip() == title


def test_files_are_copied_with_their_scenarios_and_with_the_wording_if_asked_for(tmp_path: Path) -> None:
    assert [path.name for path in copy(ready_file("cleaning-task"), tmp_path)] == [
        "cleaning-task.yaml",
        "cleaning-task.scenario.yaml",
    ]
    copied = copy(ready_file("overdue-invoice"), tmp_path / "rules", wording=True)
    assert all(path.exists() for path in copied)
    assert tmp_path / "rules/templates/ready.overdue-invoice/email.es.liquid" in copied
    assert len(copied) == 2 + 12 + 3


@pytest.mark.parametrize("present", ["cleaning-task.yaml", "cleaning-task.scenario.yaml"])
def test_nothing_is_overwritten_and_nothing_copied_then(present: str, tmp_path: Path) -> None:
    mine = tmp_path / present
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidInput, match="is there already"):
        copy(ready_file("cleaning-task"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [present]
    assert mine.read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="file"):
        copy(ready_file("reminders"), tmp_path / "file")


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InvalidInput, match="did you mean cleaning-task"):
        ready_file("cleaning-tasks")


def test_every_file_of_the_folder_belongs_to_a_ready_rule() -> None:
    folder = resources.files("adapters.ready_rules")
    there = {entry.name for entry in folder.iterdir() if entry.name.endswith(".yaml")}
    assert there == {name for file in ready_files().values() for name, _ in file.files()}


def test_a_ready_file_is_plain_text(tmp_path: Path) -> None:
    file: ReadyFile = ready_file("reminders")
    (path, *_) = copy(file, tmp_path)
    assert path.read_text(encoding="utf-8") == file.text
