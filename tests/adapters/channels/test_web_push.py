"""Web Push against a push service that decrypts what it gets and verifies who sends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from adapters.channels.web_push import WebPush
from adapters.channels.wire.push_payloads import payload_of
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown
from tests.adapters.channels.browsers import Browser, private_key, verified_claims
from tests.adapters.channels.http_service import CRAWL, DROP, HANG, PATIENCE, HttpService, Reply
from tests.adapters.channels.messages import AT, message

TAKEN = Reply(201, {"Location": "https://push.example/m/1", "TTL": "60"})


@pytest.fixture
def push(service: HttpService) -> Iterator[WebPush]:
    service.answer = TAKEN
    push = channel()
    yield push
    push.close()


def channel(**settings: Any) -> WebPush:
    given = {"contact": "mailto:desk@example.org", "allow_private": True, "timeout_seconds": 5, **settings}
    return WebPush.model_validate({"private_key": private_key(), **given})


@pytest.fixture
def browser(service: HttpService) -> Browser:
    return Browser(f"{service.url}/push/abc")


def sent(push: WebPush, browser: Browser, **values: Any) -> Any:
    return push.send(message("web_push", **{"address": browser.subscription, **values}), "d1")


def test_a_browser_reads_what_was_sent(service: HttpService, push: WebPush, browser: Browser) -> None:
    assert sent(push, browser, link="https://example.org/d1") == Done(
        result={"provider_message_id": "https://push.example/m/1"}
    )
    [received] = service.received
    told = browser.read(received)
    assert (told["title"], told["body"]) == ("Zoë's room", "Good morning\n会議室")
    assert (told["id"], told["link"], told["type"]) == ("d1", "https://example.org/d1", "news")
    claims = verified_claims(received)
    assert (claims["aud"], claims["sub"]) == (service.url, "mailto:desk@example.org")
    assert 0 < claims["exp"] - AT.timestamp() <= 86_400


@pytest.mark.parametrize(
    ("values", "urgency"), [({}, "normal"), ({"urgent": True}, "high"), ({"lane": "bulk"}, "low")], ids=str
)
def test_how_urgent_it_is(
    service: HttpService, push: WebPush, browser: Browser, values: dict[str, Any], urgency: str
) -> None:
    sent(push, browser, **values)
    assert service.received[0].headers["urgency"] == urgency


@pytest.mark.parametrize(
    ("left", "ttl"),
    [(timedelta(minutes=15), 900), (timedelta(seconds=1.9), 1), (timedelta(0), 0), (timedelta(days=366), 2_419_200)],
)
def test_j9_a_push_lives_as_long_as_it_is_of_use(
    service: HttpService, push: WebPush, browser: Browser, left: timedelta, ttl: int
) -> None:
    sent(push, browser, expires_at=AT + left)
    assert service.received[0].headers["ttl"] == str(ttl)


def test_j9_each_attempt_has_the_time_that_is_left(service: HttpService, push: WebPush, browser: Browser) -> None:
    for minutes in (0, 10):
        sent(push, browser, expires_at=AT + timedelta(minutes=15), at=AT + timedelta(minutes=minutes))
    assert [received.headers["ttl"] for received in service.received] == ["900", "300"]


def test_a_repeat_replaces_the_first_by_a_topic_that_tells_nothing(
    service: HttpService, push: WebPush, browser: Browser
) -> None:
    for delivery in ("d1", "d1", "d2"):
        sent(push, browser, delivery=delivery)
    first, second, third = (received.headers["topic"] for received in service.received)
    assert first == second != third
    assert len(first) == 32
    assert "d1" not in first


@pytest.mark.parametrize("status", [404, 410])
def test_j1_a_token_that_is_gone_is_told(service: HttpService, push: WebPush, browser: Browser, status: int) -> None:
    service.answer = Reply(status)
    ending = sent(push, browser)
    assert isinstance(ending, Refused)
    assert (ending.error_class, ending.suppresses) == ("token_gone", "token")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Done), (201, Done), (202, Done), (204, Done), (302, Refused), (400, Refused), (401, Misconfigured),
        (403, Misconfigured), (413, Refused), (429, TryLater), (500, TryLater), (502, TryLater), (503, TryLater),
    ],
)  # fmt: skip
def test_j3_n8_every_other_answer_keeps_the_token(
    service: HttpService, push: WebPush, browser: Browser, status: int, kind: type
) -> None:
    service.answer = Reply(status, {"retry-after": "30"})
    ending = sent(push, browser)
    assert isinstance(ending, kind)
    if isinstance(ending, Refused):
        assert ending.suppresses == ""
    if isinstance(ending, TryLater):
        assert ending.wait == timedelta(seconds=30)


@pytest.mark.parametrize("how", [HANG, DROP, CRAWL])
def test_n9_no_silence_lasts_for_ever(service: HttpService, browser: Browser, how: str) -> None:
    push = channel(timeout_seconds=PATIENCE)
    service.answer = how
    assert isinstance(sent(push, browser), Unknown)
    push.close()


def test_j7_two_services_at_once_get_each_their_own_claims(push: WebPush) -> None:
    services = [HttpService(), HttpService()]
    browsers = [Browser(f"{each.url}/push/{number}") for number, each in enumerate(services)]
    with ThreadPoolExecutor(4) as pool:
        endings = list(pool.map(lambda browser: sent(push, browser), browsers * 10))
    assert {ending.kind for ending in endings} == {"done"}
    for each in services:
        assert [verified_claims(received)["aud"] for received in each.received] == [each.url] * 10
        each.close()


class TestSize:
    """What is too big for a push service is shortened before it is encrypted (trial J8)."""

    def test_j8_a_title_of_many_emoji_is_cut_between_two(
        self, service: HttpService, push: WebPush, browser: Browser
    ) -> None:
        family = "👨‍👩‍👧‍👦"
        sent(push, browser, subject=family * 4000, text=family * 4000, link="https://example.org/d1")
        told = browser.read(service.received[0])
        for shown in (told["title"], told["body"]):
            assert shown.endswith("…")
            assert shown.removesuffix("…").replace(family, "") == ""
            assert shown.count(family) > 5
        assert told["link"] == "https://example.org/d1"
        assert len(service.received[0].body) <= 2800 + 103

    @pytest.mark.parametrize("room", [200, 2048, 2800, 3993])
    @pytest.mark.parametrize(
        "text", ["a" * 5000, '"\\\n' * 3000, "\x01" * 5000, "会" * 3000, "e\u0301" * 3000, "\ud800" * 900]
    )
    def test_j8_no_payload_is_over_its_budget(self, text: str, room: int) -> None:
        told = message("web_push", subject=text, text=text, link="https://example.org/" + "x" * 3000)
        payload = payload_of(told, room)
        assert len(payload) <= room
        assert json.loads(payload)["id"] == "d1"

    def test_j8_the_biggest_payload_fits_what_every_service_takes(self, service: HttpService, browser: Browser) -> None:
        push = channel(payload_bytes=3993)
        sent(push, browser, text="a" * 9000)
        push.close()
        assert len(service.received[0].body) <= 4096
        with pytest.raises(ValidationError):
            channel(payload_bytes=3994)

    def test_j8_what_is_small_is_not_padded(self, service: HttpService, push: WebPush, browser: Browser) -> None:
        sent(push, browser)
        assert len(service.received[0].body) < 400


@pytest.mark.parametrize(
    "address",
    [
        "", "{}", "[]", "null", "1", '"x"', "{" * 9000, '{"endpoint": "https://x.example/", "keys": {}}',
        '{"endpoint": "https://x.example/", "keys": {"p256dh": "!", "auth": "!"}}',
        '{"endpoint": "https://x.example/", "keys": {"p256dh": "AAAA", "auth": "AAAA"}}',
        '{"endpoint": "ftp://x.example/", "keys": {"p256dh": "A", "auth": "A"}}',
        '{"endpoint": "https://u:p@x.example/", "keys": {"p256dh": "A", "auth": "A"}}',
        '{"endpoint": "https://[", "keys": {"p256dh": "A", "auth": "A"}}',
    ],
)  # fmt: skip
def test_what_is_no_subscription_is_refused(push: WebPush, address: str) -> None:
    ending = push.send(message("web_push", address=address), "d1")
    assert isinstance(ending, Refused)
    assert ending.error_class == "bad_token"


def test_no_endpoint_leads_into_our_own_network(service: HttpService, browser: Browser) -> None:
    push = channel(allow_private=False)
    assert isinstance(sent(push, browser), Refused)
    inside = Browser(f"https://127.0.0.1:{service.port}/x")
    ending = sent(push, inside)
    push.close()
    assert isinstance(ending, Refused)
    assert (ending.error_class, service.connections) == ("forbidden_url", 0)


def test_a_key_that_is_none_is_our_own_fault(browser: Browser) -> None:
    assert isinstance(sent(channel(private_key="no key"), browser), Misconfigured)


def test_a_push_service_that_cannot_be_reached_is_tried_later(push: WebPush, service: HttpService) -> None:
    service.close()
    assert isinstance(sent(push, Browser(f"{service.url}/x")), TryLater)
