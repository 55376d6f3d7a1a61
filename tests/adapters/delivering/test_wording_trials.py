"""What people are told: in their language, with their own signs, as it was meant when the delivery began."""

from __future__ import annotations

import time as clock
from collections import Counter
from datetime import timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP

import pytest

from adapters.database.published_templates import PublishedTemplates
from adapters.ingestion.notification_door import NotificationDoor
from automations.notifications.channels import Message
from automations.notifications.wordings import Wordings
from domain.deliveries import DeliveryFailed, DeliveryPending
from domain.endings import TryLater
from domain.wordings import TemplatePublished
from tests.adapters.delivering.office import FakeChannel, Office

ALLOCATING = (
    "{% assign a = 'xxxxxxxxxxxxxxxx' %}{% for i in (1..60) %}{% assign a = a | append: a %}{% endfor %}{{ a }}",
    "{% for i in (1..1000) %}{% capture a %}{{ a | default: 'x' }}{{ a | default: 'x' }}{% endcapture %}{% endfor %}",
    "{% for i in (1..1000) %}{% for j in (1..1000) %}{% for k in (1..1000) %}x{% endfor %}{% endfor %}{% endfor %}",
    "{{ (1..1000000000) | join: 'x' }}",
    "{% assign a = 'x,' | append: 'x,' | split: ',' %}{% for i in (1..50) %}{% assign a = a | concat: a %}{% endfor %}",
    "{% for i in (1..1000) %}" + "{{ payload.text | upcase | downcase | reverse | size }}" * 300 + "{% endfor %}",
)


def use(office: Office, default_locale: str = "en", **templates: str) -> None:
    """Start another process with templates of the type `news`, named `email_de` and so on."""
    named = {f"news/{name.replace('__', '.html').replace('_', '.', 1)}": text for name, text in templates.items()}
    published = PublishedTemplates(office.app.log)
    office.wordings = Wordings(named, default_locale=default_locale, published=published)
    office.start_anew()


def pending(office: Office) -> list[DeliveryPending]:
    return [event for event in office.events() if isinstance(event, DeliveryPending)]


def told(office: Office) -> list[Message]:
    office.settle()
    return office.email.sent


def ended(office: Office) -> dict[str, int]:
    """Return how many deliveries of `news` there are by status."""
    return dict(Counter(row["status"] for row in office.rows() if row["type"] == "news"))


def failure(office: Office) -> DeliveryFailed:
    """Return the one failure that there is."""
    [failed] = [event for event in office.events() if isinstance(event, DeliveryFailed)]
    return failed


def wire(subject: str) -> bytes:
    mail = EmailMessage(policy=SMTP)
    mail["To"], mail["Subject"] = "mia@example.org", subject
    mail.set_content("text")
    return mail.as_bytes()


@pytest.mark.parametrize(
    "room",
    [
        "Blue\r\nBcc: x@evil.example",
        "Blue\nBcc: x@evil.example",
        "Blue\rBcc: x@evil.example",
        "Blue\0Bcc: x@evil.example",
        "Blue\u2028Bcc: x@evil.example",
        "Blue\u2029Bcc: x@evil.example",
        "Blue\x0bBcc: x@evil.example",
        "Blue\x85Bcc: x@evil.example",
        "Blue\x1b[31mBcc: x@evil.example",
        "Blue\u202e\u2066Bcc: x@evil.example",
        "=?utf-8?q?Blue=0D=0ABcc:_x@evil.example?=",
        "=?UTF-8?B?Qmx1ZQ0KQmNjOiB4QGV2aWwuZXhhbXBsZQ==?=",
    ],
)
def test_k1_nothing_in_a_value_ends_a_subject(office: Office, room: str) -> None:
    use(office, email_en="Subject: {{ payload.room }} is booked\nHello")
    office.request(room=room)
    [message] = told(office)
    assert message.subject.isprintable()
    assert message.subject.endswith(" is booked")
    mail = message_from_bytes(wire(message.subject), policy=SMTP)
    assert (mail.get_all("Subject"), mail["Bcc"]) == ([message.subject], None)


def test_k5_values_are_escaped_in_html_and_stand_as_they_are_anywhere_else(office: Office) -> None:
    body = "{{ payload.guest }}, {{ payload.host }}, {{ payload.room }}"
    office.use_channel("sms", FakeChannel())
    use(
        office,
        email_en=f"Subject: {body}\n{body}",
        email_en__=f"<p title='{{{{ payload.guest }}}}'>{body}</p>",
        sms_en=body,
        in_app_en=body,
    )
    office.tell("member.changed", member_id="m1", phone="+4915112345678")
    values = {"guest": "<img src=x onerror=alert(1)>", "host": "O'Brien & Söhne", "room": 'A<B "2"'}
    office.request(channels=("email", "sms"), **values)
    [email] = told(office)
    plain = ", ".join(values.values())
    assert (email.subject, email.text) == (plain, plain)
    escaped = "&lt;img src=x onerror=alert(1)&gt;"
    assert email.html == f"<p title='{escaped}'>{escaped}, O&#39;Brien &amp; Söhne, A&lt;B &#34;2&#34;</p>"
    sms = office.channels["sms"]
    assert isinstance(sms, FakeChannel)
    assert [message.text for message in sms.sent] == [plain]


@pytest.mark.parametrize("scheme", ["javascript:alert(1)", " JaVa\tScRiPt:alert(1)", "data:text/html,x", "vbscript:x"])
def test_k5_a_link_in_html_leads_to_a_web_page_or_the_delivery_fails(office: Office, scheme: str) -> None:
    use(office, email_en="Hello", email_en__='<a href="{{ payload.url }}">here</a>')
    office.request("good", url="https://example.org/?a=1&b=2")
    office.request("bad", url=scheme)
    [message] = told(office)
    assert message.html == '<a href="https://example.org/?a=1&amp;b=2">here</a>'
    assert ended(office) == {"sent": 1, "failed": 1}


@pytest.mark.parametrize(
    "template",
    [
        "Hello {{ payload.missing }}",
        "Hello {{ payload.nothing }}",
        "Hello {{ payload.list[7] }}",
        "{% if payload.missing %}x{% endif %}",
        "{% if false %}Hello{% endif %}",
        "Subject: Hello\n",
        "Subject: Hello\n \n\u200b\u202e\n",
        "",
        "Subject: {{ payload.missing }}\nHello",
        "Hello {{ payload.name | money }}",
        "Hello {{ payload.name",
    ],
)
def test_k7_what_is_missing_or_comes_to_nothing_is_never_sent(office: Office, template: str) -> None:
    use(office, email_en=template)
    office.request(nothing=None, list=[1], name="Mia")
    office.request("other", channels=("in_app",))
    assert told(office) == []
    failed = failure(office)
    assert (failed.error_class, failed.attempt) == ("template_error", 0)
    assert "Mia" not in failed.reason
    assert ended(office) == {"failed": 1, "sent": 1}


def test_k7_a_default_supplies_what_is_missing_and_none_is_never_written(office: Office) -> None:
    use(office, email_en="Hello {{ payload.name | default: 'you' }}{{ payload.nothing | default: '' }}!")
    office.request(nothing=None)
    assert [message.text for message in told(office)] == ["Hello you!"]


def test_k7_html_that_comes_to_nothing_fails_too(office: Office) -> None:
    use(office, email_en="Hello", email_en__="{% if false %}<p>Hello</p>{% endif %} ")
    office.request()
    assert told(office) == []
    assert ended(office) == {"failed": 1}


def test_k8_each_is_told_in_their_own_language_and_a_faulty_one_fails_alone(office: Office) -> None:
    for number, locale in enumerate(["de", "pt-BR", "xx", None, "de-AT"]):
        told_locale = {} if locale is None else {"locale": locale}
        office.tell(
            "member.registered", member_id=f"k{number}", name="X", email=f"k{number}@example.org", **told_locale
        )
    use(
        office,
        email_de="Subject: Hallo\n{{ payload.missing }}",
        email_pt="Subject: Olá\n{{ payload.price | money }} em {{ payload.on | date }}",
        email_en="Subject: Hello\n{{ payload.price | money }} on {{ payload.on | date }}",
    )
    for number in range(5):
        office.request(f"k/{number}", to=f"member/k{number}", price="1234.50 EUR", on="2026-05-12")
    messages = {message.to: message for message in told(office)}
    assert {to: (each.locale, each.subject) for to, each in messages.items()} == {
        "member/k1": ("pt", "Olá"),
        "member/k2": ("en", "Hello"),
        "member/k3": ("en", "Hello"),
    }
    assert messages["member/k1"].text == "€\xa01.234,50 em 12 de maio de 2026"
    assert messages["member/k2"].text == messages["member/k3"].text == "€1,234.50 on May 12, 2026"
    assert ended(office) == {"failed": 2, "sent": 3}


def test_k8_the_language_of_the_space_and_then_of_the_operator_comes_next(office: Office) -> None:
    use(office, "it-IT", email_it="Ciao", email_en="Hello", email_de="Hallo")
    office.tell("resource.added", resource_id="r1", space_id="mitte", kind="meeting_room", name="Spree")
    app = office.app
    door = NotificationDoor(app.log, app.clock, app.salt, {"news"}, sleep=clock.sleep)
    for key, about in (("a", "resource/r1"), ("b", "")):
        asked = {"idempotency_key": key, "recipient": "member/m1", "type": "news", "entity": about}
        assert door.request("crm", asked).status == "accepted"
    assert sorted(message.text for message in told(office)) == ["Ciao", "Hallo"]


def test_k8_whoever_reads_a_message_is_its_member_and_nobody_else(office: Office) -> None:
    office.tell("member.registered", member_id="m2", name="Max", email="max@example.org")
    use(office, email_en="Hello {{ member.name }}")
    office.request("k/1", to="member/m2")  # about m1
    office.request("k/2", to="member/m1")
    assert sorted((each.to, each.text) for each in told(office)) == [
        ("member/m1", "Hello Mia"),
        ("member/m2", "Hello Max"),
    ]


def test_k8_staff_read_of_the_member_whom_it_is_about(office: Office) -> None:
    office.tell("member.registered", member_id="ben", name="Ben", email="ben@example.org", staff=True)
    use(office, email_en="{{ member.name }} needs help")
    office.request("k/1", to="staff", channels=("email",))
    assert [each.text for each in told(office)] == ["Mia needs help"]


def test_a_delivery_is_sent_in_the_wording_that_it_began_with(office: Office) -> None:
    use(office, email_en="Subject: Old\nOld {{ payload.name }}", email_en__="<p>Old {{ payload.name }}</p>")
    office.email.answer = TryLater(reason="busy")
    office.request(name="Mia")
    office.settle()
    [begun] = pending(office)
    use(office, email_en="Subject: New\nNew {{ payload.missing }}")
    office.use_channel("email", FakeChannel())
    office.deliver_for(timedelta(minutes=10))
    [message] = office.email.sent
    assert (message.subject, message.text, message.html) == ("Old", "Old Mia", "<p>Old Mia</p>")
    [published] = [event for event in office.events() if isinstance(event, TemplatePublished)]
    assert (published.template, published.locale) == (begun.template, begun.locale)
    office.request("later", name="Mia")
    office.settle()
    assert ended(office) == {"sent": 1, "failed": 1}


def test_the_language_is_that_of_the_beginning_too(office: Office) -> None:
    use(office, email_en="Hello", email_de="Hallo")
    office.email.answer = TryLater(reason="busy")
    office.request()
    office.settle()
    office.tell("member.changed", member_id="m1", locale="de")
    office.use_channel("email", FakeChannel())
    office.deliver_for(timedelta(minutes=10))
    assert [(message.locale, message.text) for message in office.email.sent] == [("en", "Hello")]


def test_a_version_is_recorded_once_whoever_uses_it(office: Office) -> None:
    use(office, email_en="Hello")
    office.request("a")
    office.settle()
    office.start_anew()
    office.request("b")
    office.settle()
    use(office, email_en="Hello!")
    office.request("c")
    office.settle()
    use(office, email_en="Hello")
    office.request("d")
    office.settle()
    published = [event.text for event in office.events() if isinstance(event, TemplatePublished)]
    assert published == ["Hello", "Hello!"]
    assert [message.text for message in office.email.sent] == ["Hello", "Hello", "Hello!", "Hello"]


def test_i1_a_bad_recipient_stops_nobody_after_them(office: Office) -> None:
    use(office, email_en="Hello {{ member.name }}")
    for number in range(10):
        known = {} if number == 0 else {"email": f"i{number}@example.org"}
        office.tell("member.registered", member_id=f"i{number}", name=f"N{number}", **known)
    for number in range(10):
        office.request(f"k/{number}", to=f"member/i{number}")
    use(office, email_en="Hello")
    assert len(told(office)) == 9
    assert ended(office) == {"sent": 9, "skipped": 1}


@pytest.mark.parametrize("template", ALLOCATING, ids=range(len(ALLOCATING)))
def test_i3_a_template_that_would_fill_the_memory_fails_alone(office: Office, template: str) -> None:
    use(office, email_en=template, in_app_en="Hello")
    office.request("bad", text="x" * 9_000)
    office.request("good", channels=("in_app",))
    assert told(office) == []
    failed = failure(office)
    assert (failed.error_class, failed.attempt) == ("template_error", 0)
    assert ended(office) == {"failed": 1, "sent": 1}
