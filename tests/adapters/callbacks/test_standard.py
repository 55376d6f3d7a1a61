"""Reports that are signed by Standard Webhooks, and those of whoever knows a secret (delivery trials D8, N15)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError
from standardwebhooks import Webhook

from adapters.callbacks import NotAuthentic, Post
from adapters.callbacks.generic import Generic
from adapters.callbacks.standard import Standard

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OLD = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
URL = "https://semel.example.org/v1/callbacks/standard"
NOW = datetime(2026, 8, 8, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
STANDARD = Standard(secrets=(SecretStr(SECRET),))
BODY = json.dumps({"type": "email.bounced", "data": {"email_id": "p1", "bounce": {"type": "Permanent"}}}).encode()


def signed(at: datetime = NOW, *, body: bytes = BODY, secret: str = SECRET, arrives: datetime = NOW) -> Post:
    """Return a post that was signed at an instant, and arrives at another."""
    headers = {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(int(at.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("msg_1", at, body.decode()),
    }
    return Post.of(headers, body, URL, arrives)


@pytest.mark.parametrize(("minutes", "taken"), [(-10, False), (-4, True), (4, True), (10, False)])
def test_d8_the_clock_may_differ_by_five_minutes_either_way(minutes: int, taken: bool) -> None:
    post = signed(NOW + minutes * MINUTE)
    if taken:
        STANDARD.authenticate(post)
        return
    with pytest.raises(NotAuthentic, match="too old, or from the future"):
        STANDARD.authenticate(post)


def test_d8_how_far_it_may_differ_can_be_set() -> None:
    patient = Standard(secrets=(SecretStr(SECRET),), tolerance_seconds=900)
    patient.authenticate(signed(NOW - 14 * MINUTE))
    with pytest.raises(NotAuthentic):
        patient.authenticate(signed(NOW + 16 * MINUTE))


def test_d8_a_replay_is_refused_by_time_and_inside_of_it_has_the_same_id() -> None:
    with pytest.raises(NotAuthentic):
        STANDARD.authenticate(signed(NOW, arrives=NOW + timedelta(hours=1)))
    assert STANDARD.items(signed()) == STANDARD.items(signed())
    assert [item.id for item in STANDARD.items(signed())] == ["msg_1"]


def test_several_secrets_may_hold_while_one_is_replaced() -> None:
    both = Standard(secrets=(SecretStr(SECRET), SecretStr(OLD)))
    for secret in (SECRET, OLD):
        both.authenticate(signed(secret=secret))
    with pytest.raises(NotAuthentic):
        STANDARD.authenticate(signed(secret=OLD))


def test_the_very_bytes_are_signed() -> None:
    post = signed()
    with pytest.raises(NotAuthentic):
        STANDARD.authenticate(Post(post.headers, post.body.replace(b": ", b":"), URL, NOW))


@pytest.mark.parametrize(
    "headers",
    [
        {"webhook-signature": ""},
        {"webhook-id": ""},
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "9" * 40},
        {"webhook-signature": "v1,=== v2,abc v1"},
        {"webhook-signature": "v1,ümläut"},
    ],
)
def test_what_is_no_signature_is_refused_and_breaks_nothing(headers: dict[str, str]) -> None:
    post = signed()
    with pytest.raises(NotAuthentic):
        STANDARD.authenticate(Post({**post.headers, **headers}, post.body, URL, NOW))
    with pytest.raises(NotAuthentic):
        STANDARD.authenticate(Post(post.headers, b"\xff\xfe", URL, NOW))


def test_a_secret_that_is_none_is_refused_when_it_is_set() -> None:
    with pytest.raises(ValidationError, match="base64"):
        Standard(secrets=(SecretStr("whsec_"),))


def test_what_a_mail_service_says_is_read() -> None:
    [item] = STANDARD.items(signed())
    [receipt] = STANDARD.receipts(item.content)
    assert (receipt.kind, receipt.bounce, receipt.message_id) == ("bounced", "hard", "p1")


class TestGeneric:
    """A secret in a header, and nothing signed."""

    generic = Generic(secret=SecretStr("sixteen characters"))

    def post(self, body: Any = (), **headers: str) -> Post:
        return Post.of(headers, json.dumps(body).encode(), URL, NOW)

    @pytest.mark.parametrize(("shown", "status"), [("", 401), ("Bearer another", 403), ("Bearer ", 403), ("ü", 403)])
    def test_n15_only_who_knows_the_secret_is_heard(self, shown: str, status: int) -> None:
        with pytest.raises(NotAuthentic) as refused:
            self.generic.authenticate(self.post(**({"Authorization": shown} if shown else {})))
        assert refused.value.status == status
        self.generic.authenticate(self.post(Authorization="Bearer sixteen characters"))

    def test_a_list_holds_several_reports_each_with_its_own_id(self) -> None:
        items = self.generic.items(self.post([{"id": "a", "type": "delivered"}, {"type": "bounce"}, 7]))
        assert items[0].id == "a"
        assert len({item.id for item in items}) == 3

    def test_a_body_that_is_no_json_is_one_report(self) -> None:
        assert len(self.generic.items(Post({}, b"<xml/>", URL, NOW))) == 1

    def test_n16_seconds_since_1970_are_an_instant_and_a_bare_time_is_none(self) -> None:
        told = [{"type": "delivered", "at": at} for at in (1_786_190_400, "2026-08-08 12:00")]
        receipts = [self.generic.receipts(item.content)[0] for item in self.generic.items(self.post(told))]
        assert [each.zone_assumed for each in receipts] == [False, True]
