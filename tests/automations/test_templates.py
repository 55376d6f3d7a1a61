"""Templates are filled in with facts: strict, bounded, and checked beforehand."""

from __future__ import annotations

import time as clock
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from automations.fact_catalogue import catalogue_of
from automations.templates import check, render
from automations.visible_text import many_lines, one_line
from domain.errors import InvalidInput
from domain.money import Money
from tests.automations.known_facts import KnownFacts

BOOKING = catalogue_of(("booking", "member", "resource", "space", "event"), "booking.changed")

A_LOT = "{% capture a %}{% for i in (1..1000) %}" + "x" * 90 + "{% endfor %}{% endcapture %}"

FACTS = KnownFacts(
    {
        "member.name": "Zoë 🎉 Ünal\nBcc: x@example.org",
        "member.tags": ("vip", "founder", "2026"),
        "member.time_zone": "Asia/Tokyo",
        "booking.starts_at": datetime(2026, 7, 1, 18, 0, tzinfo=ZoneInfo("America/Los_Angeles")),
        "booking.start_time": time(18),
        "booking.date": date(2026, 7, 1),
        "booking.duration": timedelta(minutes=90),
        "booking.attendees": 1234,
        "booking.all_day": False,
        "booking.extra.door": "d1",
        "event.before.status": "pending",
        "space.quiet_hours.start": time(22),
        "resource.name": "会議室",
        "invoice.total": Money.parse("1234.50 EUR"),
    }
)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("no template", "no template"),
        ("{{ booking.attendees }}", "1234"),
        ("{{ booking.starts_at }}", "2026-07-01 18:00"),
        ("{{ booking.start_time }} {{ booking.date }}", "18:00 2026-07-01"),
        ("{{ booking.duration }}", "90 minutes"),
        ("{{ invoice.total }}", "1234.50 EUR"),
        (
            "{{ member.tags }} {{ member.tags.size }} {{ member.tags[0] }} {{ member.tags.last }}",
            "vip, founder, 2026 3 vip 2026",
        ),
        ("{% for tag in member.tags %}{{ tag }};{% endfor %}", "vip;founder;2026;"),
        ("{% if member.tags contains 'vip' %}VIP{% endif %}", "VIP"),
        (
            "{{ booking.extra.door }} {{ event.before.status }} {{ space.quiet_hours.start }}",
            "d1 pending 22:00",
        ),
        ("{{ booking.extra['door'] }}", "d1"),
        ("{{ member.company | default: 'nobody' }}", "nobody"),
        ("{% if booking.all_day %}day{% else %}hours{% endif %}", "hours"),
        ("{{ resource.name | upcase }}", "会議室"),
        ("{{ member.tags | join: ' / ' }}", "vip / founder / 2026"),
        ("{% raw %}{{ member.name }}{% endraw %}", "{{ member.name }}"),
    ],
)
def test_a_template_is_filled_in_with_facts(template: str, text: str) -> None:
    assert render(template, FACTS) == text


@pytest.mark.parametrize(
    ("template", "locale", "text"),
    [
        ("{{ booking.starts_at | datetime }}", "fr-FR", "1 juil. 2026, 18:00"),
        ("{{ booking.starts_at | datetime: 'full' }}", "fr-FR", "mercredi 1 juillet 2026, 18:00"),
        ("{{ booking.starts_at | date }}", "de-DE", "1. Juli 2026"),
        ("{{ booking.starts_at | date: 'EEEE d MMMM' }}", "es", "miércoles 1 julio"),
        ("{{ booking.starts_at | time }}", "de", "18:00"),
        ("{{ booking.starts_at | time }}", "en-US", "6:00\u202fPM"),
        ("{{ booking.starts_at | in_zone: member.time_zone | datetime }}", "de", "02.07.2026, 10:00"),
        ("{{ booking.starts_at | zone_name }}", "en", "Pacific Daylight Time"),
        ("{{ invoice.total | money }}", "de", "1.234,50\xa0€"),
        ("{{ booking.attendees | number }}", "de", "1.234"),
        ("{{ booking.duration | duration }}", "it", "1 ora 30 minuti"),
        ("{{ member.tags | list }}", "de", "vip, founder und 2026"),
        ("{{ booking.date | date: 'short' }}", "xx-XX", "7/1/26"),
        ("{{ booking.date | date: 'short' }}", "de_AT", "01.07.26"),
        ("{{ '2026-07-01' | date }}", "de", "1. Juli 2026"),
    ],
)
def test_values_are_written_as_the_locale_does(template: str, locale: str, text: str) -> None:
    assert render(template, FACTS, locale) == text


def test_a_line_break_in_a_value_cannot_end_a_title_or_a_header() -> None:
    assert render("Hi {{ member.name }}", FACTS) == "Hi Zoë 🎉 Ünal Bcc: x@example.org"
    assert render("a\nb {{ booking.date }}", FACTS, lines=True) == "a\nb 2026-07-01"


def test_control_characters_never_pass() -> None:
    every = "".join(chr(code) for code in (*range(32), *range(127, 160), 0x2028, 0x2029, 0x202E, 0xFEFF, 0xD800))
    assert one_line(f"a{every}b").replace(" ", "") == "a\ufffdb"
    assert set(many_lines(f"a{every}b")) == {"a", "b", "\n", "\t", "\ufffd"}
    assert one_line("a\r\nb\tc") == "a b c"
    facts = KnownFacts({"member.name": f"x{every}"})
    assert render("{{ member.name }}", facts).startswith("x")
    assert "\x1b" not in render("{{ member.name }}", facts, lines=True)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ member.company }}", "member.company is missing: supply a value with | default:"),
        ("{% if member.company == 'x' %}{% endif %}", "member.company is missing"),
        ("{{ now }}", "now is missing"),
        ("{{ today }}", "today is missing"),
        ("{{ booking }}", "booking is no value"),
        ("{{ member.name | no_such }}", "unknown filter"),
        ("{{ member.name", "expected"),
        ("{% include 'x' %}", "unexpected tag"),
        ("{% render 'x' %}", "unexpected tag"),
        ("{% for i in (1..100000000) %}x{% endfor %}", "loop iteration limit"),
        ("{% for i in (1..40) %}{% for j in (1..40) %}x{% endfor %}{% endfor %}", "loop iteration limit"),
        ("{{ (1..100000000) | join }}", "at most 10000 items"),
        (
            "{% assign a='xxxxxxxx' %}{% for i in (1..40) %}{% assign a = a | append: a %}{% endfor %}",
            "at most",
        ),
        (
            "{% assign a=9 %}{% for i in (1..40) %}{% assign a = a | times: a %}{% endfor %}{{ a }}",
            "too large",
        ),
        (
            A_LOT + "{% assign b = a | replace: 'x', a %}",
            "at most",
        ),
        (
            A_LOT + "{{ a }}{{ a }}",
            "limit",
        ),
        ("{{ " + "a[" * 3000 + "b" + "]" * 3000 + " }}", "."),
        ("{% if a %}" * 200 + "{% endif %}" * 200, "."),
        ("{{ 1 | divided_by: 0 }}", "divide by 0"),
        ("{{ 'now' | date }}", "a date or an instant"),
        ("{{ booking.starts_at | date: '%Y' }}", "CLDR"),
        ("{{ booking.starts_at | in_zone: 'Nowhere' }}", "cannot be worked out"),
        ("{{ member.tags | money }}", "an amount of money"),
        ("{{" + "x" * 20_000 + "}}", "at most 20000"),
    ],
    ids=lambda value: value[:40],
)
def test_what_cannot_be_filled_in_is_refused_in_no_time(template: str, message: str) -> None:
    began = clock.process_time()
    with pytest.raises(InvalidInput, match=message):
        render(template, FACTS)
    assert clock.process_time() - began < 2


def test_a_refusal_never_repeats_a_value() -> None:
    for template in (
        "{{ member.name | money }}",
        "{{ member.name | date }}",
        "{{ member.name | in_zone: member.name }}",
    ):
        with pytest.raises(InvalidInput) as refusal:
            render(template, FACTS)
        assert "nal" not in str(refusal.value)


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("{{ member.name }} {{ booking.starts_at | date }}", []),
        ("{{ member.tags.size }} {{ member.tags[0] }} {{ booking.extra['x y'] }}", []),
        ("{{ event.before.status }} {% for t in member.tags %}{{ t }}{{ forloop.index }}{% endfor %}", []),
        ("{% assign x = member.name %}{{ x }}", []),
        ("a {{ member.nmae }}", [(5, "did you mean member.name")]),
        ("{{ name }}", [(3, "did you mean member.name")]),
        ("{{ now }}", [(3, "no fact is called 'now'")]),
        ("{{ invoice.total }}", [(3, "this trigger has no invoice")]),
        ("{{ booking }} {{ booking.extra }}", [(3, "is no value"), (17, "is no value")]),
        ("{{ member.name | upcsae }}", [(17, "did you mean upcase")]),
        ("x {{ member.name", [(2, "expected")]),
        ("x {% if %}", [(5, "missing expression")]),
        ("{{ booking.extra[member.nmae] }}", [(17, "did you mean member.name")]),
        ("x" * 20_001, [(0, "at most 20000")]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_mistakes_of_a_template_are_found_with_their_places(template: str, found: list[Any]) -> None:
    mistakes = check(template, BOOKING)
    assert [mistake.offset for mistake in mistakes] == [offset for offset, _ in found]
    for mistake, (_, message) in zip(mistakes, found, strict=True):
        assert message in mistake.message
