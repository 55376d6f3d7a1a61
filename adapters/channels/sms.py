"""The channel `sms`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar
from urllib.parse import urlencode

from pydantic import Field, SecretStr, model_validator

from adapters.channels import ChannelPlugin, channels
from adapters.channels.replies.http import Answer
from adapters.channels.replies.twilio import ending_of_sms, looked_up
from adapters.channels.wire.http_lines import HttpLine, Post
from adapters.channels.wire.phone_numbers import dialled
from adapters.channels.wire.sms_parts import encoding_of, parts_of
from automations.notifications.callbacks import Receipt
from automations.notifications.channels import CallEnding, Message
from domain.endings import Done, Refused, TryLater
from domain.errors import InvalidInput

_SID = re.compile(r"[A-Za-z0-9_-]{1,64}")

LONGEST_VALIDITY = 36_000
"""Seconds for which the service keeps a message at most."""


@channels.register("sms")
class Sms(ChannelPlugin):
    """Sends SMS through an HTTP service that speaks as Twilio does.

    Numbers go out in E.164. The service is told for how long a message is of use. It takes no idempotency key: where
    no answer comes after a message was handed over, it is not sent again unless its type allows that.
    """

    EXAMPLE: ClassVar[Mapping[str, Any]] = {
        "account": "AC00000000000000000000000000000000",
        "token": "the account's token",
        "sender": "+34911234567",
    }

    base_url: Annotated[str, Field(pattern=r"^https?://[^\s/]+")] = "https://api.twilio.com"
    """Where the service is."""

    account: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    """The account at the service."""

    token: SecretStr
    """Its secret."""

    sender: Annotated[str, Field(max_length=34)] = ""
    """The number or name that messages are from."""

    messaging_service: Annotated[str, Field(max_length=64)] = ""
    """The service's pool of senders, instead of one sender."""

    country: Annotated[str, Field(pattern=r"^([A-Z]{2})?$")] = ""
    """The country of numbers that name none, by its two letters."""

    status_url: str = ""
    """Where the service tells what became of a message."""

    most_parts: Annotated[int, Field(ge=1, le=10)] = 6
    """Parts of one message; what is longer is refused, never cut."""

    connections: Annotated[int, Field(ge=1, le=100)] = 8
    """How many calls may be under way in each process."""

    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 15.0
    """The longest wait for an answer."""

    @model_validator(mode="after")
    def _has_a_sender(self) -> Sms:
        if not self.sender and not self.messaging_service:
            raise ValueError("needs a `sender` or a `messaging_service`")
        return self

    @property
    def sent_from(self) -> str:
        """Return whom people want no more messages of; of a pool nobody knows beforehand which sender it will be."""
        return "" if self.messaging_service else self.sender

    @cached_property
    def _line(self) -> HttpLine:
        return HttpLine(self.timeout_seconds, connections=self.connections)

    @property
    def concurrency(self) -> int:
        """Return how many messages may be on their way at a time."""
        return self.connections

    def send(self, message: Message, key: str) -> CallEnding:
        """Send a message; the subject is not part of it."""
        text = message.text.encode("utf-8", "replace").decode()
        parts = parts_of(text)
        if parts > self.most_parts:
            return Refused(reason=f"{parts} parts, more than {self.most_parts}", error_class="too_big")
        try:
            number = dialled(message.address, self.country)
        except InvalidInput as error:
            return Refused(reason=f"the address {error}", error_class="bad_address")
        url = f"{self.base_url.rstrip('/')}/2010-04-01/Accounts/{self.account}/Messages.json"
        headers = {"content-type": "application/x-www-form-urlencoded"}
        content = urlencode(self._form(message, number, text)).encode()
        post = Post(url, content, headers, (self.account, self.token.get_secret_value()))
        answer = self._line.call(post)
        if not isinstance(answer, Answer):
            return answer
        ending = ending_of_sms(answer, message.at)
        counted = {"parts": parts, "encoding": encoding_of(text)}
        return Done(result={**ending.result, **counted}) if isinstance(ending, Done) else ending

    def look_up(self, provider_message_id: str) -> Receipt | TryLater | None:
        """Return what became of a message, None where that is not known, or that the service cannot be asked now."""
        if not _SID.fullmatch(provider_message_id):
            return None
        url = f"{self.base_url.rstrip('/')}/2010-04-01/Accounts/{self.account}/Messages/{provider_message_id}.json"
        auth = (self.account, self.token.get_secret_value())
        answer = self._line.call(Post(url, b"", {}, auth, method="GET"))
        if isinstance(answer, Answer):
            return looked_up(answer, provider_message_id)
        return TryLater(reason="the SMS service cannot be asked")

    def close(self) -> None:
        """Let go of all connections."""
        self._line.close()

    def _form(self, message: Message, number: str, text: str) -> dict[str, str]:
        whose = {"MessagingServiceSid": self.messaging_service} if self.messaging_service else {"From": self.sender}
        validity = max(1, min(message.seconds_left, LONGEST_VALIDITY))
        form = {"To": number, **whose, "Body": text, "ValidityPeriod": str(validity)}
        return {**form, "StatusCallback": self.status_url} if self.status_url else form
