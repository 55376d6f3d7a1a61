"""Reports of Amazon's mail service (delivery trial D6): only from topics of ours, with certificates of Amazon."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

from adapters.callbacks import NotAuthentic, Post
from adapters.callbacks.amazon import Amazon
from adapters.callbacks.receiving import CallbackDoor
from automations.notifications.callbacks import Receipt
from domain.errors import Unavailable
from tests.adapters.delivering.office import Office

OURS = "arn:aws:sns:eu-central-1:123456789012:mail"
FOREIGN = "arn:aws:sns:eu-central-1:999999999999:mail"
PLACE = "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0123.pem"
CONFIRM = "https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=t"
URL = "https://semel.example.org/v1/callbacks/amazon"
AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
BOUNCE = {
    "notificationType": "Bounce",
    "bounce": {
        "bounceType": "Permanent",
        "bouncedRecipients": [{"emailAddress": "mia@example.org", "status": "5.1.1"}],
        "timestamp": "2026-08-08T11:59:00.000Z",
    },
    "mail": {"messageId": "ses-1", "headers": [{"name": "Message-ID", "value": "<delivery-1@example.org>"}]},
}


@cache
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@cache
def certificate() -> bytes:
    """Return a certificate of our own, as if it lay at Amazon."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    builder = x509.CertificateBuilder(name, name, key().public_key(), 1, AT, AT + timedelta(days=30))
    return builder.sign(key(), hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


class Internet:
    """What lies at Amazon, and what was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_down = False

    def fetch(self, url: str) -> bytes:
        self.asked.append(url)
        if self.is_down:
            raise Unavailable("down")
        return certificate() if url.endswith(".pem") else b"<Confirmed/>"


def signed(message: Mapping[str, Any] = BOUNCE, *, version: str = "2", **changes: str) -> Post:
    """Return a message of the notification service with a signature that holds for it."""
    told = {
        "Type": "Notification",
        "MessageId": "m-1",
        "TopicArn": OURS,
        "Message": json.dumps(message),
        "Timestamp": "2026-08-08T12:00:00.000Z",
        "SignatureVersion": version,
        "SigningCertURL": PLACE,
        **changes,
    }
    names = ["Message", "MessageId", "SubscribeURL", "Subject", "Timestamp", "Token", "TopicArn", "Type"]
    text = "".join(f"{name}\n{told[name]}\n" for name in names if name in told)
    digest = hashes.SHA1() if version == "1" else hashes.SHA256()
    signature = key().sign(text.encode(), padding.PKCS1v15(), digest)
    return Post.of({}, json.dumps({**told, "Signature": base64.b64encode(signature).decode()}).encode(), URL, AT)


def amazon(internet: Internet) -> Amazon:
    return Amazon(topics=(OURS,)).fetching_by(internet.fetch)


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_signed_message_of_our_topic_is_authentic_and_its_certificate_is_fetched_once(version: str) -> None:
    internet = Internet()
    provider = amazon(internet)
    provider.authenticate(signed(version=version))
    provider.authenticate(signed(version=version, Subject="with one"))
    assert internet.asked == [PLACE]


def test_d6_n11_a_message_of_a_foreign_topic_is_refused_before_anything_is_fetched() -> None:
    internet = Internet()
    with pytest.raises(NotAuthentic) as refused:
        amazon(internet).authenticate(signed(TopicArn=FOREIGN))
    assert (refused.value.status, internet.asked) == (403, [])


@pytest.mark.parametrize(
    "place",
    [
        "http://sns.eu-central-1.amazonaws.com/a.pem",
        "https://sns.eu-central-1.amazonaws.com.evil.example/a.pem",
        "https://evil.example/sns.eu-central-1.amazonaws.com/a.pem",
        "https://sns.eu-central-1.amazonaws.com@evil.example/a.pem",
        "https://sns.eu-central-1.amazonaws.com:8443/a.pem",
        "https://bucket.s3.amazonaws.com/a.pem",
        "https://sns.eu-central-1.amazonaws.com/a.txt",
        "https://[sns/a.pem",
        "",
    ],
)
def test_d6_a_certificate_that_lies_elsewhere_is_never_fetched(place: str) -> None:
    internet = Internet()
    with pytest.raises(NotAuthentic):
        amazon(internet).authenticate(signed(SigningCertURL=place))
    assert internet.asked == []


@pytest.mark.parametrize("changes", [{"Signature": "AAAA"}, {"Signature": "no base64"}, {"MessageId": "m-2"}])
def test_n11_another_signature_is_refused(changes: dict[str, str]) -> None:
    post = signed()
    forged = json.dumps({**json.loads(post.body), **changes}).encode()
    with pytest.raises(NotAuthentic):
        amazon(Internet()).authenticate(Post(post.headers, forged, URL, AT))


def test_an_unknown_version_of_signatures_is_refused() -> None:
    with pytest.raises(NotAuthentic, match="unknown kind"):
        amazon(Internet()).authenticate(signed(version="3"))


def test_a_permanent_bounce_is_hard_and_names_our_own_delivery() -> None:
    [item] = amazon(Internet()).items(signed())
    assert item.id == "m-1"
    assert read(BOUNCE) == [
        Receipt("bounced", "ses-1", "delivery-1", "mia@example.org", "", "hard", "5.1.1", "2026-08-08T11:59:00.000Z")
    ]


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        ({"eventType": "Delivery", "delivery": {"recipients": ["m@x.org"]}, "mail": {}}, ["delivered"]),
        ({"eventType": "DeliveryDelay", "deliveryDelay": {}, "mail": {}}, ["delayed"]),
        ({"eventType": "Bounce", "bounce": {"bounceType": "Transient"}, "mail": {}}, ["bounced"]),
        ({"eventType": "Complaint", "complaint": {}, "mail": {}}, ["complained"]),
        ({"eventType": "Complaint", "complaint": {"complaintFeedbackType": "not-spam"}, "mail": {}}, []),
        ({"eventType": "Open", "mail": {}}, ["opened"]),
        ({"eventType": "Rendering Failure", "mail": {}}, []),
    ],
)
def test_each_event_means_something(message: dict[str, Any], kinds: list[str]) -> None:
    found = read(message)
    assert [receipt.kind for receipt in found] == kinds
    assert all(receipt.bounce == "soft" for receipt in found)


def read(message: Mapping[str, Any]) -> list[Receipt]:
    [item] = amazon(Internet()).items(signed(message))
    return amazon(Internet()).receipts(item.content)


class TestAtTheDoor:
    """What is kept, and what is confirmed."""

    def door(self, office: Office, internet: Internet) -> CallbackDoor:
        return CallbackDoor(office.app.log, {"amazon": amazon(internet)})

    def welcome(self, **changes: str) -> Post:
        return signed(BOUNCE, Type="SubscriptionConfirmation", Token="t", SubscribeURL=CONFIRM, **changes)

    def test_d6_nothing_of_a_foreign_topic_is_stored_or_confirmed(self, office: Office) -> None:
        internet = Internet()
        door = self.door(office, internet)
        for post in (signed(TopicArn=FOREIGN), self.welcome(TopicArn=FOREIGN)):
            answer = door.receive("amazon", post.headers, post.body, post.url, AT)
            assert (answer.status, answer.new) == (403, 0)
        assert internet.asked == []

    def test_the_subscription_of_our_topic_is_confirmed(self, office: Office) -> None:
        internet = Internet()
        post = self.welcome()
        answer = self.door(office, internet).receive("amazon", post.headers, post.body, post.url, AT)
        assert (answer.status, internet.asked) == (200, [PLACE, CONFIRM])

    def test_a_subscription_is_never_confirmed_elsewhere(self, office: Office) -> None:
        internet = Internet()
        post = signed(Type="SubscriptionConfirmation", Token="t", SubscribeURL="https://evil.example/")
        answer = self.door(office, internet).receive("amazon", post.headers, post.body, post.url, AT)
        assert (answer.status, internet.asked) == (403, [])

    def test_where_amazon_cannot_be_reached_the_post_is_asked_for_again(self, office: Office) -> None:
        internet = Internet()
        internet.is_down = True
        post = signed()
        with pytest.raises(Unavailable):
            self.door(office, internet).receive("amazon", post.headers, post.body, post.url, AT)
