"""Callbacks of Amazon's mail service, which come through its notification service."""

from __future__ import annotations

import base64
import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Self
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr, model_validator

from adapters.callbacks import CallbackProvider, Item, NotAuthentic, Post, callback_providers, json_of
from adapters.callbacks.fetching import fetched
from automations.notifications.callbacks import Kind, Receipt, code_of
from domain.errors import InvalidInput
from domain.ids import digest

Fetch = Callable[[str], bytes]
"""Gets what lies at a URL of Amazon; raises Unavailable where that cannot be had now."""

_HOST = re.compile(r"sns\.[a-z0-9-]{1,40}\.amazonaws\.com(\.cn)?")
_NOTICE = ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type")
_WELCOME = ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")
_SIGNED: Mapping[str, tuple[str, ...]] = {
    "Notification": _NOTICE,
    "SubscriptionConfirmation": _WELCOME,
    "UnsubscribeConfirmation": _WELCOME,
}
_KINDS: Mapping[str, Kind] = {
    "Send": "sent",
    "Delivery": "delivered",
    "Bounce": "bounced",
    "Reject": "bounced",
    "Complaint": "complained",
    "DeliveryDelay": "delayed",
    "Open": "opened",
    "Click": "opened",
    "Subscription": "opt_out",
}


@callback_providers.register("amazon")
class Amazon(CallbackProvider):
    """Takes what Amazon SES reports through SNS, about mails that went out over its SMTP servers.

    A message has to come from one of the topics named here, with a signature whose certificate lies at Amazon; the
    subscription of such a topic is confirmed. Needs `pip install semel[amazon]`.
    """

    EXAMPLE: ClassVar[Mapping[str, Any]] = {"topics": ["arn:aws:sns:eu-central-1:123456789012:mail"]}

    topics: Annotated[tuple[str, ...], Field(min_length=1)]
    """The topics that are ours, by their ARN."""

    _fetch: Fetch = PrivateAttr(default_factory=lambda: fetched)
    _certificates: dict[str, bytes] = PrivateAttr(default_factory=dict)

    def fetching_by(self, fetch: Fetch) -> Self:
        """Return the same with another way to get certificates and to confirm."""
        copy = self.model_copy()
        copy._fetch, copy._certificates = fetch, {}
        return copy

    @model_validator(mode="after")
    def _can_verify(self) -> Self:
        if importlib.util.find_spec("cryptography") is None:
            raise ValueError("signatures need the package cryptography: pip install semel[amazon]")
        return self

    def authenticate(self, post: Post) -> None:
        """Check topic, place of the certificate, and signature, in this order: nothing is fetched for strangers."""
        told = json_of(post.text)
        kind, signature = told.get("Type"), told.get("Signature")
        if kind not in _SIGNED or not isinstance(signature, str):
            raise NotAuthentic("this is no signed message of the notification service", 401)
        if told.get("TopicArn") not in self.topics:
            raise NotAuthentic("it comes from a topic that is not ours")
        url = _at_amazon(told.get("SigningCertURL"), ".pem")
        if kind == "SubscriptionConfirmation":
            _at_amazon(told.get("SubscribeURL"))
        if url not in self._certificates:
            self._certificates[url] = self._fetch(url)
        _verify(self._certificates[url], signature, _signed_text(told), str(told.get("SignatureVersion")))

    def welcome(self, post: Post) -> None:
        """Confirm the subscription of a topic of ours."""
        told = json_of(post.text)
        if told.get("Type") == "SubscriptionConfirmation":
            self._fetch(_at_amazon(told.get("SubscribeURL")))

    def items(self, post: Post) -> list[Item]:
        """Return the one report; the id of the message is its own."""
        return [Item(str(json_of(post.text).get("MessageId") or digest(post.text)), post.text)]

    def receipts(self, content: str) -> list[Receipt]:
        """Return what became of a mail, for each recipient that is named."""
        told = json_of(content)
        if told.get("Type") != "Notification":
            return []
        message = json_of(str(told.get("Message", "")))
        name = message.get("eventType") or message.get("notificationType")
        if not isinstance(name, str):
            raise InvalidInput("this is no report: it has no type of event")
        return list(_receipts(name, message)) if name in _KINDS else []


def _receipts(name: str, message: Mapping[str, Any]) -> Iterator[Receipt]:
    kind, mail = _KINDS[name], _part(message, "mail")
    about = _part(message, {"Send": "send", "DeliveryDelay": "deliveryDelay"}.get(name, name.lower()))
    if kind == "complained" and about.get("complaintFeedbackType") == "not-spam":
        return
    bounce = "hard" if about.get("bounceType") == "Permanent" else "soft"
    named = {"message_id": str(mail.get("messageId", "")), "delivery": _own_id(mail)}
    told_at = str(about.get("timestamp") or mail.get("timestamp") or "")
    people = about.get("bouncedRecipients") or about.get("complainedRecipients") or about.get("recipients")
    for each in people or mail.get("destination") or [""]:
        address = each.get("emailAddress") if isinstance(each, dict) else each
        detail = code_of(each.get("status")) if isinstance(each, dict) else ""
        yield Receipt(
            kind,
            address=str(address or ""),
            bounce="hard" if bounce == "hard" else "soft",
            detail=detail,
            told_at=told_at,
            **named,
        )


def _own_id(mail: Mapping[str, Any]) -> str:
    """Return the delivery that the mail's own Message-ID names: the service sends it under another one."""
    headers = mail.get("headers")
    named = [
        each.get("value")
        for each in (headers if isinstance(headers, list) else [])
        if isinstance(each, dict) and str(each.get("name")).casefold() == "message-id"
    ]
    return str(named[0]).strip("<> ").partition("@")[0] if named else ""


def _part(message: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = message.get(name)
    return found if isinstance(found, dict) else {}


def _at_amazon(url: object, end: str = "") -> str:
    """Return a URL that leads to Amazon; raises NotAuthentic for any other."""
    text = url if isinstance(url, str) else ""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise NotAuthentic("its certificate lies nowhere") from None
    ours = parts.scheme == "https" and _HOST.fullmatch(host) and "@" not in parts.netloc and port in (None, 443)
    if not ours or not parts.path.endswith(end):
        raise NotAuthentic("its certificate lies elsewhere than at Amazon")
    return text


def _signed_text(told: Mapping[str, Any]) -> bytes:
    return "".join(f"{name}\n{told[name]}\n" for name in _SIGNED[told["Type"]] if name in told).encode()


def _verify(certificate: bytes, signature: str, text: bytes, version: str) -> None:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    algorithm = {"1": hashes.SHA1(), "2": hashes.SHA256()}.get(version)  # noqa: S303 - version 1 is made so
    try:
        key = x509.load_pem_x509_certificate(certificate).public_key()
        if algorithm is None or not isinstance(key, rsa.RSAPublicKey):
            raise NotAuthentic("its signature is of an unknown kind")
        key.verify(base64.b64decode(signature, validate=True), text, padding.PKCS1v15(), algorithm)
    except (InvalidSignature, ValueError):
        raise NotAuthentic("the signature is another one") from None
