"""Webhooks: what can be decided about one, and what its events come to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from domain import webhooks as decide
from domain.errors import InvalidInput
from domain.webhooks import Webhook, WebhookEvent, webhook_of, webhook_stream

AT = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
URL = "https://books.example.org/hooks/semel?room=1"
NEW = Webhook(webhook_stream("books"))


def after(*events: WebhookEvent) -> Webhook:
    return webhook_of(NEW.stream, events)


ADDED = decide.added(NEW, URL, ("booking.*", "invoice.issued"), at=AT, by="ana")
BOOKS = after(ADDED)


@pytest.mark.parametrize(
    ("topic", "wanted"),
    [
        ("booking.created", True),
        ("booking.checked_in", True),
        ("invoice.issued", True),
        ("invoice.voided", False),
        ("bookings.created", False),
        ("booking", True),
    ],
)
def test_a_webhook_wants_topics_by_their_name_and_by_their_noun(topic: str, wanted: bool) -> None:
    assert BOOKS.wants(topic) is wanted
    assert not after(ADDED, decide.removed(BOOKS, at=AT, by="")).wants(topic)


@pytest.mark.parametrize(
    "url",
    [
        "", "books", "ftp://x/", "https://", "https:///x", "https://user:pw@example.org/", "https://a b/",
        "https://x.org/#here", "https://x.org:0/", "https://x.org:port/", "https://x\u0000.org/",
        "https://" + "x" * 2000,
    ],
)  # fmt: skip
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="url"):
        decide.added(NEW, url, ("booking.*",), at=AT, by="")


@pytest.mark.parametrize(
    "url", ["https://x.org", "http://10.0.0.1:8080/a?b=c", "https://[::1]:443/", "https://müller.de/"]
)
def test_what_is_a_url_is_taken(url: str) -> None:
    assert decide.added(NEW, url, ("booking.*",), at=AT, by="").url == url


@pytest.mark.parametrize("webhook", ["", "Books", "-books", "a/b", "a.b", "ü", "x" * 41])
def test_what_is_no_id_is_refused(webhook: str) -> None:
    with pytest.raises(InvalidInput, match="id"):
        decide.added(Webhook(webhook_stream(webhook)), URL, ("booking.*",), at=AT, by="")


def test_the_secret_before_signs_until_its_time_is_over() -> None:
    rotated = decide.rotated(BOOKS, timedelta(hours=1), at=AT, by="ana")
    books = after(ADDED, rotated)
    assert rotated.secret != ADDED.secret
    assert books.secrets_at(AT + timedelta(minutes=59)) == (rotated.secret, ADDED.secret)
    assert books.secrets_at(AT + timedelta(hours=1)) == (rotated.secret,)


def test_what_is_so_already_is_not_recorded_again() -> None:
    [pause] = decide.paused(BOOKS, at=AT, by="ana")
    paused = after(ADDED, pause)
    assert not decide.paused(paused, at=AT, by="ana")
    assert not decide.resumed(BOOKS, at=AT, by="ana")
    assert not decide.changed(BOOKS, URL, ADDED.topics, at=AT, by="ana")
    [resume] = decide.resumed(paused, at=AT, by="ana")
    assert after(ADDED, pause, resume).is_sent_to


def test_nothing_is_decided_about_one_that_does_not_stand() -> None:
    removed = after(ADDED, decide.removed(BOOKS, at=AT, by=""))
    for webhook in (NEW, removed):
        for decision in (decide.paused, decide.resumed, decide.tested, decide.removed):
            with pytest.raises(InvalidInput, match="no webhook"):
                decision(webhook, at=AT, by="")
    again = decide.added(removed, URL, ("booking.*",), at=AT, by="ana")
    assert (again.version, again.secret != ADDED.secret) == (3, True)


def test_both_secrets_sign_for_a_month_at_most() -> None:
    with pytest.raises(InvalidInput, match="30 days"):
        decide.rotated(BOOKS, timedelta(days=31), at=AT, by="")
