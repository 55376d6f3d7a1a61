"""Callbacks of SMS services that speak as Twilio does."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from pydantic import SecretStr

from adapters.callbacks import CallbackChannel, CallbackProvider, Item, NotAuthentic, Post, callback_providers, json_of
from adapters.channels.replies.twilio import REFUSALS, code_number, receipt_of_status
from automations.notifications.callbacks import Receipt
from domain.errors import InvalidInput
from domain.ids import digest

_OPTED_OUT = "opted_out"
_UNIQUE = ("MessageSid", "SmsSid", "MessageStatus", "SmsStatus", "ErrorCode", "OptOutType")


@callback_providers.register("twilio")
class Twilio(CallbackProvider):
    """Takes what an SMS service posts to a message's status URL, signed with the account's token.

    It signs the URL that it was told to call, which is another one behind a proxy: name it here then. A person who
    has answered STOP is not written to any more by that sender, whether that is told of a message or on its own.
    """

    EXAMPLE: ClassVar[Mapping[str, Any]] = {"token": "the account's token"}

    channel: CallbackChannel = "sms"

    token: SecretStr
    """The account's secret."""

    url: str = ""
    """The URL that the service was told to call, if it is not the one that it reaches."""

    def authenticate(self, post: Post) -> None:
        """Check the signature over the URL and the sorted fields."""
        signed = post.headers.get("x-twilio-signature", "")
        if not signed:
            raise NotAuthentic("the header X-Twilio-Signature is missing", 401)
        fields = "".join(f"{name}{value}" for name, value in sorted(set(_fields(post))))
        urls = dict.fromkeys(filter(None, (self.url, post.url)))
        if not any(hmac.compare_digest(self._signature(url + fields), signed.encode()) for url in urls):
            raise NotAuthentic("the signature is another one")

    def items(self, post: Post) -> list[Item]:
        """Return the one report; the same state of the same message is the same report."""
        fields = dict(_fields(post))
        content = json.dumps(fields, sort_keys=True)
        return [Item(digest(*(fields.get(name, "") for name in _UNIQUE)), content)]

    def receipts(self, content: str) -> list[Receipt]:
        """Return what became of a message, and that somebody wants no more of them."""
        return list(_receipts(json_of(content)))

    def _signature(self, text: str) -> bytes:
        made = hmac.new(self.token.get_secret_value().encode(), text.encode(), hashlib.sha1)
        return base64.b64encode(made.digest())


def _receipts(told: Mapping[str, Any]) -> Iterator[Receipt]:
    if not told:
        raise InvalidInput("this is no report: it has no fields")
    if "OptOutType" in told:
        if told["OptOutType"] == "STOP":
            yield Receipt("opt_out", address=str(told.get("From", "")), sender=str(told.get("To", "")), detail="STOP")
        return
    number, sender = str(told.get("To", "")), str(told.get("From", ""))
    message_id = str(told.get("MessageSid") or told.get("SmsSid") or "")
    code = code_number(told.get("ErrorCode"))
    found = receipt_of_status(message_id, str(told.get("MessageStatus") or told.get("SmsStatus") or ""), code, number)
    if found is not None:
        yield Receipt(
            found.kind,
            message_id,
            address=number,
            bounce=found.bounce,
            detail=found.detail,
            told_at=str(told.get("RawDlrDoneDate", "")),
        )
    if REFUSALS.get(code or 0) == _OPTED_OUT:
        yield Receipt("opt_out", message_id, address=number, sender=sender, detail=str(code))


def _fields(post: Post) -> list[tuple[str, str]]:
    return parse_qsl(post.text, keep_blank_values=True)
