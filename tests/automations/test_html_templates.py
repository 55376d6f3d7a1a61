"""HTML that is filled in: no value becomes an element, an attribute, or a link that runs something."""

from __future__ import annotations

import base64
import time as clock
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automations.html_safety import unsafe_in
from automations.template_budget import MOST_WORK, charge, working
from automations.templates import _HTML, render, render_html
from automations.visible_text import header_line
from domain.errors import InvalidInput
from tests.automations.known_facts import KnownFacts

NOTHING = KnownFacts({})
EVIL = '<img src=x onerror="alert(1)"><script>alert(1)</script>'
HIDDEN = [
    EVIL,
    escape(EVIL),
    escape(escape(EVIL)),
    quote(EVIL),
    base64.b64encode(EVIL.encode()).decode(),
    base64.urlsafe_b64encode(EVIL.encode()).decode(),
    EVIL.replace("<", "<<b>"),
    "<scr<script>ipt>",
    "&lt;script&gt;",
]


@pytest.mark.parametrize("name", sorted(_HTML.filters))
@pytest.mark.parametrize("before", ["", "| append: '<b>'", "| escape ", "| strip_html ", "| url_decode ", "| upcase "])
def test_no_filter_turns_a_value_into_an_element(name: str, before: str) -> None:
    for value in HIDDEN:
        for template in (
            f"{{{{ payload.x {before} | {name} }}}}",
            f"{{% capture c %}}{{{{ payload.x }}}}{{% endcapture %}}{{{{ c {before} | {name} }}}}",
            f"{{{{ payload.x {before} | {name}: payload.x }}}}",
            f"{{{{ '<b>' {before} | {name}: 'b', payload.x }}}}",
        ):
            try:
                html = render_html(template, NOTHING, beside={"payload": {"x": value}})
            except InvalidInput as error:
                html = f"<script: {value}" if "no place in a message" in str(error) else ""
            assert "<script" not in html.lower()
            assert "<img" not in html.lower()


@given(st.text())
def test_a_value_in_text_or_in_quotes_says_what_it_is_and_nothing_else(value: str) -> None:
    from html.parser import HTMLParser

    class Reader(HTMLParser):
        found: list[str]

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.found.append(f"{tag} {[name for name, _ in attrs]}")

    reader = Reader()
    reader.found = []
    reader.feed(
        render_html('<p title="{{ payload.x }}">{{ payload.x }}</p>', NOTHING, beside={"payload": {"x": value}})
    )
    assert reader.found == ["p ['title']"]


@pytest.mark.parametrize(
    ("html", "unsafe"),
    [
        ('<a href="https://example.org">x</a>', False),
        ('<a href="HTTP://example.org">x</a>', False),
        ('<a href="mailto:a@example.org">x</a><a href="tel:+49">x</a>', False),
        ('<a href="/path:x?a=b:c#d:e">x</a><a href="#top">x</a><a href="page">x</a>', False),
        ('<img src="cid:logo"><img src="https://example.org/x.png">', False),
        ("a < b and c > d", False),
        ('<a href="javascript:alert(1)">x</a>', True),
        ('<a href="  java\tscript:alert(1)">x</a>', True),
        ('<a href="java\nscript:alert(1)">x</a>', True),
        ('<a href="\x01javascript:alert(1)">x</a>', True),
        ('<a href="&#106;avascript:alert(1)">x</a>', True),
        ('<a href="javascript&colon;alert(1)">x</a>', True),
        ('<A HREF="JAVASCRIPT:alert(1)">x</A>', True),
        ("<a href=javascript:alert(1)>x</a>", True),
        ('<a href="data:text/html,<script>alert(1)</script>">x</a>', True),
        ('<img src="data:image/svg+xml,x">', True),
        ("<img src=x onerror=alert(1)>", True),
        ("<p onclick='x'>x</p>", True),
        ('<img srcset="javascript:x 1x">', True),
        ("<script>x</script>", True),
        ("<iframe src=x></iframe>", True),
        ("<form action=x></form>", True),
        ("<base href=x>", True),
    ],
)
def test_what_is_unsafe_is_found(html: str, unsafe: bool) -> None:
    assert (unsafe_in(html) is not None) == unsafe


def test_a_value_cannot_add_an_attribute_where_the_author_left_the_quotes_out() -> None:
    with pytest.raises(InvalidInput, match="an attribute that runs something"):
        render_html("<a href={{ payload.x }}>x</a>", NOTHING, beside={"payload": {"x": "y onclick=alert(1)"}})


def test_a_refusal_does_not_repeat_the_value() -> None:
    with pytest.raises(InvalidInput) as refusal:
        render_html('<a href="{{ payload.x }}">x</a>', NOTHING, beside={"payload": {"x": "javascript:secret"}})
    assert "secret" not in str(refusal.value)


def test_texts_are_not_escaped() -> None:
    assert render("{{ payload.x }}", NOTHING, beside={"payload": {"x": "O'Brien & <b>"}}) == "O'Brien & <b>"


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in (1..1000) %}" + "{{ payload.x | upcase }}" * 500 + "{% endfor %}",
        "{% for i in (1..1000) %}" + "{% if payload.x contains 'nothing' %}x{% endif %}" * 400 + "{% endfor %}",
        "{% for i in (1..1000) %}" + "{% if payload.y == payload.x %}x{% endif %}" * 400 + "{% endfor %}",
        "{% for i in (1..1000) %}" + "{% assign a = payload.x %}" * 700 + "{% endfor %}",
    ],
    ids=range(4),
)
def test_a_template_that_takes_too_much_work_is_given_up_soon(template: str) -> None:
    began = clock.process_time()
    with pytest.raises(InvalidInput, match=r"too much work|limit"):
        render(template, NOTHING, beside={"payload": {"x": "x" * 60_000, "y": "x" * 59_999}})
    assert clock.process_time() - began < 5


def test_each_rendering_has_a_budget_of_its_own() -> None:
    for _ in range(3):
        with working():
            charge("x" * (MOST_WORK - 1_000))
    charge("x" * 10)  # outside of a rendering nothing is counted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a =?utf-8?q?=0D=0A?= b", "a = ?utf-8?q?=0D=0A?= b"),
        ("=?a?B?x?==?b?Q?y?=", "= ?a?B?x?== ?b?Q?y?="),
        ("a=?b", "a=?b"),
        ("1 =? 2", "1 =? 2"),
        ("x\0y\x1bz", "x y z"),
        ("\u202eabc\u2066d\u2069", "abcd"),
        ("مرحبا \u200fx", "مرحبا \u200fx"),
    ],
)
def test_a_header_is_one_line_without_encoded_words(text: str, shown: str) -> None:
    assert header_line(text) == shown
