"""The operator's types and templates: read over the packaged ones, and every mistake named with its place."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from adapters.settings import Settings, read_settings
from adapters.wording import packaged_templates, packaged_types
from adapters.wording.checking import checked
from adapters.wording.files import templates_of, types_of
from domain.errors import InvalidInput

TYPES = """\
booking.moved:
  channels: [email, sms]
  useful_for: 3 hours
news: {channels: [email], lane: bulk, opt_in: yes}
door.code: {first_of: [web_push, sms], urgency: urgent, useful_for: 15 minutes, on_unknown: repeat}
plain:
"""


def put(folder: Path, name: str, content: str | bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def settings(**given: object) -> Settings:
    return read_settings(**given)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_any_file_there_is_what_comes_with_semel() -> None:
    assert types_of(settings()) == packaged_types()
    assert templates_of(settings()) == packaged_templates()
    found = checked(settings())
    assert (found.mistakes, found.hints) == ([], [])


def test_types_are_read_over_the_packaged_ones(folder: Path) -> None:
    put(folder, "notifications.yaml", TYPES + "ready.reminders: {channels: [sms]}\n")
    types = types_of(settings())
    assert types["booking.moved"].channels == ("email", "sms")
    assert types["booking.moved"].useful_for == timedelta(hours=3)
    assert (types["news"].lane, types["news"].opt_in) == ("bulk", True)
    assert types["door.code"].ways == (("web_push", "sms"),)
    assert types["plain"].channels == ("email",)
    assert types["ready.reminders"].channels == ("sms",)
    assert types["ready.renewal-talk"] == packaged_types()["ready.renewal-talk"]


def test_the_files_can_lie_elsewhere_but_then_they_have_to_be_there(folder: Path) -> None:
    put(folder, "etc/types.yaml", "news:\n")
    put(folder, "etc/texts/news/email.en.liquid", "Hello")
    elsewhere = settings(notifications="etc/types.yaml", templates="etc/texts")
    assert "news" in types_of(elsewhere)
    assert templates_of(elsewhere)["news/email.en"] == "Hello"
    with pytest.raises(InvalidInput, match=r"nowhere\.yaml: there is no such file"):
        types_of(settings(notifications="nowhere.yaml"))
    with pytest.raises(InvalidInput, match="nowhere: there is no such folder"):
        templates_of(settings(templates="nowhere"))


def test_every_mistake_of_the_types_has_its_line_and_column_and_the_nearest_word(folder: Path) -> None:
    put(
        folder,
        "notifications.yaml",
        "news: {chanels: [email]}\n"
        "Door: {}\n"
        "door:\n"
        "  channels: [emial, sms, sms]\n"
        "  lane: fast\n"
        "  useful_for: soon\n"
        "code: {first_of: [pusch]}\n"
        "late: {useful_until: booking.start_at}\n"
        "both: {channels: [email], first_of: [sms]}\n"
        "list: [email]\n",
    )
    told = "\n".join(checked(settings()).mistakes)
    for expected in (
        "notifications.yaml:1:8: there is no setting 'chanels'; did you mean channels?",
        "notifications.yaml:2:1: 'Door' is not a name of a-z",
        "notifications.yaml:4:14: there is no channel 'emial'; did you mean email?",
        "notifications.yaml:4:26: sms stands there twice",
        "notifications.yaml:5:9: lane should be 'transactional' or 'bulk', and not 'fast'",
        "notifications.yaml:6:15:",
        "notifications.yaml:7:19: there is no channel 'pusch'; known: ",
        "notifications.yaml:8:22: ",
        "notifications.yaml:9:",
        "notifications.yaml:10:7: a type is a mapping",
    ):
        assert expected in told
    with pytest.raises(InvalidInput, match=r"notifications\.yaml:1:8"):
        types_of(settings())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- news\n", "notifications.yaml:1:1: types are a mapping"),
        ("news: {\n", "notifications.yaml:"),
        ("news:\nnews:\n", "notifications.yaml:2:1"),
        (b"n\xff: {}\n", "notifications.yaml:1:2: the byte 0xFF is not UTF-8"),
    ],
)
def test_a_file_that_is_no_mapping_is_refused(folder: Path, content: str | bytes, message: str) -> None:
    put(folder, "notifications.yaml", content)
    assert message in "\n".join(checked(settings()).mistakes)


@pytest.mark.parametrize("content", ["", "# nothing yet\n", "{}\n"])
def test_a_file_may_say_nothing(folder: Path, content: str) -> None:
    put(folder, "notifications.yaml", content)
    assert types_of(settings()) == packaged_types()


def test_own_templates_take_the_place_of_packaged_ones_and_of_their_html(folder: Path) -> None:
    put(folder, "templates/ready.reminders/email.en.liquid", "Subject: Mine\nMine")
    put(folder, "templates/ready.renewal-talk/email.de.liquid", "Subject: Bald\nBald")
    templates = templates_of(settings())
    assert templates["ready.reminders/email.en"] == "Subject: Mine\nMine"
    assert "ready.reminders/email.en.html" not in templates
    assert templates["ready.reminders/email.it"] == packaged_templates()["ready.reminders/email.it"]
    assert templates["ready.renewal-talk/email.de"] == "Subject: Bald\nBald"


def test_every_mistake_of_the_templates_is_named(folder: Path) -> None:
    put(folder, "notifications.yaml", "news:\n")
    for name, text in {
        "news/email.en": "Subject: {{ member.name | upcsae }}\nHello",
        "news/email.de": "Subject: Hallo\n\n{{ member.name",
        "news/email.de.html": "<p>{% if %}</p>",
        "news/emial.en": "Hello",
        "news/email": "Hello",
        "news/email.en.txt": "Hello",
        "news/sms.it": " \n",
        "news/email.fr.html": "<p>Bonjour</p>",
        "news/sms.en.html": "<p>Hello</p>",
        "My News/email.en": "Hello",
    }.items():
        put(folder, f"templates/{name}.liquid", text)
    put(folder, "templates/README.md", "mine")
    put(folder, "templates/news/notes.txt", "mine")
    told = "\n".join(checked(settings()).mistakes)
    for expected in (
        "templates/news/email.en.liquid:1:27: no filter is called 'upcsae'; did you mean upcase?",
        "templates/news/email.de.liquid:3:",
        "templates/news/email.de.html.liquid:1:",
        "templates/news/emial.en.liquid: there is no channel 'emial'; did you mean email?",
        "templates/news/email.liquid: a template is called <channel>.<locale>.liquid",
        "templates/news/email.en.txt.liquid: a template is called",
        "templates/news/sms.it.liquid:1:1: the template says nothing",
        "templates/news/email.fr.html.liquid: there is no email.fr.liquid beside it",
        "templates/news/sms.en.html.liquid: only an email has HTML",
        "templates/My News/email.en.liquid: the folder 'My News' cannot be the name of a type",
    ):
        assert expected in told
    assert "README" not in told
    assert "notes" not in told


def test_what_is_probably_meant_otherwise_is_a_hint(folder: Path) -> None:
    put(folder, "notifications.yaml", "news: {channels: [email]}\nmoved: {channels: [email, sms]}\n")
    put(folder, "templates/moved/email.en.liquid", "Moved")
    put(folder, "templates/newz/email.en.liquid", "News")
    found = checked(settings())
    assert found.mistakes == []
    assert found.hints == [
        "news has no template: what is sent says only news",
        "moved has no template for sms: what is sent there says only moved",
        "templates/newz: no type is called newz; did you mean news?",
    ]
