"""The channel `webhook`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from adapters.channels import ChannelPlugin, channels
from adapters.channels.replies.http import Answer, ending_of_answer
from adapters.channels.wire.http_lines import HttpLine, Post
from adapters.channels.wire.webhook_signatures import checked_secret, signed_headers
from automations.notifications.channels import CallEnding, Message
from domain.endings import Done, Refused


@channels.register("webhook")
class Webhook(ChannelPlugin):
    """Posts messages to a URL, signed by Standard Webhooks.

    The delivery's id is the `webhook-id`, the same on every attempt: the receiver does nothing twice that has an id it
    has seen. Redirects are not followed. Addresses inside a private network are not called unless that is allowed: the
    host is looked up first, and the very address that was checked is called.
    """

    HONOURS_KEYS: ClassVar[bool] = True
    EXAMPLE: ClassVar[Mapping[str, Any]] = {
        "url": "https://example.org/hooks/semel",
        "secret": "whsec_c2VtZWwsIGFuIGV4YW1wbGUgb2YgYSBzZWNyZXQ=",
    }

    url: Annotated[str, Field(pattern=r"^https?://[^\s@/]+(/[^\s]*)?$", max_length=2000)]
    """Where messages go; https, unless private networks are allowed."""

    secret: SecretStr
    """What messages are signed with: `whsec_` and at least 24 bytes in base64."""

    former_secret: SecretStr = SecretStr("")
    """The secret before, as long as receivers may still use it: then each message has both signatures."""

    allow_private: bool = False
    """Whether addresses inside a private network may be called, and http."""

    connections: Annotated[int, Field(ge=1, le=100)] = 8
    """How many calls may be under way in each process."""

    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 15.0
    """The longest wait for an answer."""

    @field_validator("secret", "former_secret")
    @classmethod
    def _is_long_enough(cls, secret: SecretStr, field: ValidationInfo) -> SecretStr:
        return checked_secret(secret, is_optional=field.field_name == "former_secret")

    @cached_property
    def _line(self) -> HttpLine:
        return HttpLine(
            self.timeout_seconds,
            connections=self.connections,
            checks_addresses=True,
            allow_private=self.allow_private,
        )

    @property
    def concurrency(self) -> int:
        """Return how many messages may be on their way at a time."""
        return self.connections

    def send(self, message: Message, key: str) -> CallEnding:
        """Post a message; the key is its id for the receiver."""
        if not self.allow_private and not self.url.startswith("https://"):
            return Refused(reason="the URL is not https", error_class="forbidden_url")
        body = message.body or _body(message)
        headers = signed_headers(key, message.at, body, (self.secret, self.former_secret))
        answer = self._line.call(Post(self.url, body.encode(), headers))
        if not isinstance(answer, Answer):
            return answer
        ending = ending_of_answer(answer, message.at, harmless=True)
        return Done(result={"provider_message_id": key}) if isinstance(ending, Done) else ending

    def close(self) -> None:
        """Let go of all connections."""
        self._line.close()


def _body(message: Message) -> str:
    data = {
        "delivery": message.delivery,
        "to": message.to,
        "subject": message.subject,
        "text": message.text,
        "html": message.html,
        "link": message.link,
        "locale": message.locale,
        "urgent": message.urgent,
        "expires_at": message.expires_at.isoformat(),
    }
    wrapped = {"type": message.type, "timestamp": message.requested_at.isoformat(), "data": data}
    # ASCII only, so that the signature is over the same bytes whatever a lone surrogate would become.
    return json.dumps(wrapped)
