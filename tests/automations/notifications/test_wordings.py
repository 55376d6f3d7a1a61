"""Which template is taken: the best language there is, and exactly the version that was chosen."""

from __future__ import annotations

import pytest

from automations.notifications.languages import languages
from automations.notifications.wordings import Wording, Wordings
from domain.facts import Entity
from domain.wordings import TemplatePublished, template_stream, template_version
from tests.domain.places import Place


@pytest.mark.parametrize(
    ("recipient", "space", "default", "wanted"),
    [
        (None, None, "en", ["en"]),
        ("de", None, "en", ["de", "en"]),
        ("pt-BR", "de_CH", "it", ["pt-BR", "pt", "de_CH", "de", "it", "en"]),
        ("zh-Hant-TW", None, "en", ["zh-Hant-TW", "zh-Hant", "zh", "en"]),
        (None, "es", "es", ["es", "en"]),
        ("en-GB", "de", "en", ["en-GB", "en", "de"]),
    ],
)
def test_languages_come_from_the_recipient_the_space_and_the_operator(
    recipient: str | None, space: str | None, default: str, wanted: list[str]
) -> None:
    assert languages(_with(recipient), _with(space), default) == wanted


def _with(locale: str | None) -> Entity | None:
    return None if locale is None else Place().tell("member.changed", {"member_id": "m1", "locale": locale})


def test_a_language_is_found_however_it_is_written() -> None:
    wordings = Wordings({"news/email.pt-BR": "a", "news/email.de": "b", "news/sms.de": "c", "newsletter/email.pt": "d"})
    for wanted, text in (("pt_br", "a"), ("PT-BR", "a"), ("DE", "b"), ("fr", "b")):  # the first there is
        found = wordings.find("news", "email", [wanted])
        assert found is not None
        assert found.text == text
    assert wordings.find("news", "web_push", ["de"]) is None
    assert wordings.find("new", "email", ["de"]) is None
    assert wordings.channels_of("news") == {"email": ["de", "pt-BR"], "sms": ["de"]}


def test_html_belongs_to_the_text_beside_it() -> None:
    wordings = Wordings({"news/email.de": "Hallo", "news/email.de.html": "<p>Hallo</p>", "news/email.en": "Hello"})
    found = {locale: wordings.find("news", "email", [locale]) for locale in ("de", "en")}
    assert found == {
        "de": Wording("news", "email", "de", "Hallo", "<p>Hallo</p>"),
        "en": Wording("news", "email", "en", "Hello"),
    }


def test_a_version_is_the_whole_content_and_nothing_else() -> None:
    first = Wording("news", "email", "de", "Hallo")
    assert first.version == Wording("news", "email", "de", "Hallo").version
    others = [
        Wording("newt", "email", "de", "Hallo"),
        Wording("news", "sms", "de", "Hallo"),
        Wording("news", "email", "en", "Hallo"),
        Wording("news", "email", "de", "Hallo "),
        Wording("news", "email", "de", "Hallo", "<p>Hallo</p>"),
        Wording("news", "email", "deH", "allo"),
    ]
    assert len({first.version, *(each.version for each in others)}) == 7
    assert Wordings({"news/email.de": "Hallo"}).of_version(first.version) == first
    assert Wordings().of_version(first.version) is None
    assert TemplatePublished.model_fields.keys() >= {"type", "channel", "locale", "text", "html"}
    version = template_version("news", "email", "de", "Hallo")
    assert template_stream(version) == f"template/{first.version}"
