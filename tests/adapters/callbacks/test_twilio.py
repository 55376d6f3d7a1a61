"""Reports of SMS services that sign as Twilio does."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest
from pydantic import SecretStr

from adapters.callbacks import NotAuthentic, Post
from adapters.callbacks.twilio import Twilio
from automations.notifications.callbacks import Receipt

URL = "https://semel.example.org/v1/callbacks/twilio"
AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
TWILIO = Twilio(token=SecretStr("12345"))
FIELDS = {"MessageSid": "SM1", "MessageStatus": "delivered", "To": "+34600000001", "From": "+34911"}


def signed(fields: Mapping[str, str], token: str, url: str = URL) -> Post:
    """Return a post as Twilio makes it."""
    text = url + "".join(f"{name}{fields[name]}" for name in sorted(fields))
    signature = base64.b64encode(hmac.new(token.encode(), text.encode(), hashlib.sha1).digest()).decode()
    return Post.of({"X-Twilio-Signature": signature}, urlencode(fields).encode(), url, AT)


def test_the_example_of_the_documentation_has_its_signature() -> None:
    # The worked example of the service's own security page: URL, fields, token and signature are its values.
    fields = {
        "CallSid": "CA1234567890ABCDE",
        "Caller": "+14158675309",
        "Digits": "1234",
        "From": "+14158675309",
        "To": "+18005551212",
    }
    headers = {"X-Twilio-Signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8="}
    post = Post.of(headers, urlencode(fields).encode(), "https://mycompany.com/myapp.php?foo=1&bar=2", AT)
    TWILIO.authenticate(post)


def test_what_is_signed_with_the_token_is_authentic() -> None:
    TWILIO.authenticate(signed(FIELDS, "12345"))


def test_behind_a_proxy_the_url_that_the_service_was_told_counts() -> None:
    post = signed(FIELDS, "12345")
    inside = Post(post.headers, post.body, "http://127.0.0.1:8080/v1/callbacks/twilio", AT)
    with pytest.raises(NotAuthentic):
        TWILIO.authenticate(inside)
    Twilio(token=SecretStr("12345"), url=URL).authenticate(inside)


@pytest.mark.parametrize("status", [401, 403])
def test_n15_nothing_unsigned_or_wrongly_signed_is_taken(status: int) -> None:
    post = signed(FIELDS, "12345" if status == 401 else "another")
    with pytest.raises(NotAuthentic) as refused:
        TWILIO.authenticate(Post({} if status == 401 else post.headers, post.body, post.url, AT))
    assert refused.value.status == status


def test_the_same_state_of_the_same_message_is_the_same_report() -> None:
    [first], [again] = (TWILIO.items(signed(fields, "12345")) for fields in (FIELDS, {**FIELDS, "Extra": "1"}))
    [other] = TWILIO.items(signed({**FIELDS, "MessageStatus": "sent"}, "12345"))
    assert first.id == again.id != other.id


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        ("sent", "", ("sent", "soft")),
        ("delivered", "", ("delivered", "soft")),
        ("undelivered", "30003", ("bounced", "soft")),
        ("undelivered", "30005", ("bounced", "soft")),
        ("undelivered", "30006", ("bounced", "hard")),
        ("failed", "30007", ("bounced", "soft")),
    ],
)
def test_each_state_and_code_means_something(status: str, code: str, expected: tuple[str, str]) -> None:
    [receipt] = receipts({**FIELDS, "MessageStatus": status, "ErrorCode": code})
    assert (receipt.kind, receipt.bounce) == expected
    assert (receipt.message_id, receipt.address) == ("SM1", "+34600000001")


def test_d11_21610_is_a_bounce_and_an_opt_out_of_number_and_sender() -> None:
    bounced, out = receipts({**FIELDS, "MessageStatus": "failed", "ErrorCode": "21610"})
    assert (bounced.kind, bounced.bounce, out.kind, out.sender) == ("bounced", "soft", "opt_out", "+34911")


def test_n16_the_raw_time_of_the_network_has_no_zone() -> None:
    [receipt] = receipts({**FIELDS, "RawDlrDoneDate": "2610250230"})
    assert receipt.zone_assumed


def receipts(fields: Mapping[str, str]) -> list[Receipt]:
    [item] = TWILIO.items(signed(fields, "12345"))
    return TWILIO.receipts(item.content)
