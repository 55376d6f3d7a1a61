"""Webhooks that a receiver verifies as the standard says, and what keeps them out of our own network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from pydantic import ValidationError
from standardwebhooks.webhooks import Webhook as Receiver
from standardwebhooks.webhooks import WebhookVerificationError

from adapters.channels.webhook import Webhook
from adapters.channels.wire.public_addresses import is_public
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown
from tests.adapters.channels.http_service import CRAWL, DROP, HANG, PATIENCE, HttpService, Reply
from tests.adapters.channels.messages import message

SECRET = "whsec_" + "c2VjcmV0IG9uZSBzZWNyZXQgb25lIHNlY3JldA=="
FORMER = "whsec_" + "c2VjcmV0IHR3byBzZWNyZXQgdHdvIHNlY3JldA=="


@pytest.fixture
def webhook(service: HttpService) -> Iterator[Webhook]:
    webhook = channel(service)
    yield webhook
    webhook.close()


def channel(service: HttpService, **settings: Any) -> Webhook:
    given = {"url": f"{service.url}/hook", "allow_private": True, "timeout_seconds": 5, **settings}
    return Webhook.model_validate({"secret": SECRET, **given})


def sent(webhook: Webhook, **values: Any) -> Any:
    return webhook.send(message("webhook", address="member/m1", **values), "d1")


def test_a_receiver_verifies_what_it_gets(service: HttpService, webhook: Webhook) -> None:
    assert sent(webhook, at=datetime.now(UTC), text="Zoë\ud800") == Done(result={"provider_message_id": "d1"})
    [received] = service.received
    told = Receiver(SECRET).verify(received.body, dict(received.headers))
    assert (received.path, received.headers["webhook-id"], told["type"]) == ("/hook", "d1", "news")
    assert (told["data"]["to"], told["data"]["text"]) == ("member/m1", "Zoë\ud800")
    with pytest.raises(WebhookVerificationError):
        Receiver(SECRET).verify(received.body.replace(b"m1", b"m2"), dict(received.headers))


def test_d8_a_repeat_is_signed_anew_with_the_same_id(service: HttpService, webhook: Webhook) -> None:
    now = datetime.now(UTC)
    sent(webhook, at=now - timedelta(hours=1))
    sent(webhook, at=now)
    first, second = service.received
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    Receiver(SECRET).verify(second.body, dict(second.headers))
    with pytest.raises(WebhookVerificationError):
        Receiver(SECRET).verify(first.body, dict(first.headers))


def test_while_a_secret_is_replaced_both_verify(service: HttpService) -> None:
    webhook = channel(service, former_secret=FORMER)
    sent(webhook, at=datetime.now(UTC))
    webhook.close()
    [received] = service.received
    for secret in (SECRET, FORMER):
        Receiver(secret).verify(received.body, dict(received.headers))


@pytest.mark.parametrize("secret", ["", "whsec_c2hvcnQ=", "whsec_$$$", "whsec_" + "YQ" * 100])
def test_a_secret_that_is_too_weak_is_no_setting(service: HttpService, secret: str) -> None:
    with pytest.raises(ValidationError) as caught:
        channel(service, secret=secret)
    assert "secret" in str(caught.value)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Done), (204, Done), (299, Done), (301, Refused), (307, Refused), (308, Refused), (400, Refused),
        (401, Misconfigured), (403, Misconfigured), (404, Refused), (408, TryLater), (409, TryLater), (410, Refused),
        (413, Refused), (425, TryLater), (429, TryLater), (500, TryLater), (501, Refused), (502, TryLater),
        (503, TryLater), (504, TryLater),
    ],
)  # fmt: skip
def test_every_status_has_its_class(service: HttpService, webhook: Webhook, status: int, kind: type) -> None:
    service.answer = Reply(status, {"location": "/elsewhere", "retry-after": "7"})
    ending = sent(webhook)
    assert isinstance(ending, kind)
    assert len(service.received) == 1
    if isinstance(ending, TryLater):
        assert ending.wait == timedelta(seconds=7)


@pytest.mark.parametrize("how", [HANG, DROP, CRAWL])
def test_a1_silence_is_a_doubt_that_the_id_makes_harmless(service: HttpService, how: str) -> None:
    webhook = channel(service, timeout_seconds=PATIENCE)
    service.answer = how
    assert isinstance(sent(webhook), Unknown)
    assert webhook.honours_keys
    webhook.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "0x7f000001"])
def test_nobody_is_called_inside_our_own_network(service: HttpService, host: str) -> None:
    webhook = Webhook.model_validate({"url": f"https://{host}:{service.port}/", "secret": SECRET})
    ending = sent(webhook)
    webhook.close()
    assert isinstance(ending, Refused | TryLater)
    assert isinstance(ending, Refused) or host == "0x7f000001"
    assert (service.received, service.connections) == ([], 0)


def test_without_leave_nothing_goes_out_in_the_clear(service: HttpService) -> None:
    ending = sent(channel(service, allow_private=False))
    assert isinstance(ending, Refused)
    assert (ending.error_class, service.connections) == ("forbidden_url", 0)


def test_the_very_address_that_was_checked_is_called(
    service: HttpService, webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that leads elsewhere at each look-up is looked up once."""
    asked: list[str] = []

    async def looked_up(host: str, port: int, *, allow_private: bool) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    monkeypatch.setattr("adapters.channels.wire.http_calls.addresses_of", looked_up)
    rebound = channel(service, url=f"http://hooks.invalid:{service.port}/hook")
    assert isinstance(sent(rebound), Done)
    rebound.close()
    assert asked == ["hooks.invalid"]
    assert service.received[0].headers["host"] == f"hooks.invalid:{service.port}"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("127.0.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:10.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::a00:1", False),
        ("64:ff9b::808:808", True),
        ("2002:a00:1::", False),
        ("::127.0.0.1", False),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


@pytest.mark.parametrize("url", ["", "hook", "ftp://x/", "https://user:pw@example.org/", "https:///x", "https://a b/"])
def test_what_is_no_url_is_no_setting(service: HttpService, url: str) -> None:
    with pytest.raises(ValidationError):
        channel(service, url=url)


def test_the_body_says_when_it_was_asked_for(service: HttpService, webhook: Webhook) -> None:
    sent(webhook, html="<p>", link="https://example.org/x")
    told = json.loads(service.received[0].body)
    assert told["timestamp"] == "2026-08-08T09:30:00+00:00"
    assert told["data"]["link"] == "https://example.org/x"
