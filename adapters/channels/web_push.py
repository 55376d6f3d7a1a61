"""The channel `web_push`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, PrivateAttr, SecretStr

from adapters.channels import ChannelPlugin, channels
from adapters.channels.replies.http import Answer
from adapters.channels.replies.push import ending_of_push
from adapters.channels.wire.http_lines import HttpLine, Post
from adapters.channels.wire.push_payloads import CEILING, payload_of, topic_of
from automations.notifications.channels import CallEnding, Message
from domain.endings import Misconfigured, Refused
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from adapters.channels.wire.push_subscriptions import Vapid

LONGEST_TTL = 28 * 86_400
"""Seconds for which push services keep a message at most."""


@channels.register("web_push")
class WebPush(ChannelPlugin):
    """Sends notifications to browsers (Web Push: RFC 8030, encrypted by RFC 8291, signed by RFC 8292).

    The address is the JSON of the browser's subscription. The push service is told for how long a message is of use,
    counted anew on each attempt, how urgent it is, and by a topic that a repeated one replaces the first. Texts are
    shortened to fit, with a link to the whole. Needs `pip install semel[push]`.
    """

    EXAMPLE: ClassVar[Mapping[str, Any]] = {
        "private_key": "4nCfyLBzjNYhAH4NCt1xaGvLVaBC1l9pWVBQhVZzbGA",
        "contact": "mailto:desk@example.org",
    }

    private_key: SecretStr
    """The operator's VAPID key: 32 bytes in base64url, or a PEM text."""

    contact: Annotated[str, Field(pattern=r"^(mailto:[^\s@]+@[^\s@]+|https://\S+)$")]
    """Who push services turn to where something is wrong: `mailto:…` or `https://…`."""

    payload_bytes: Annotated[int, Field(ge=200, le=CEILING)] = 2800
    """Bytes of a message before it is encrypted; longer texts are shortened."""

    allow_private: bool = False
    """Whether push services inside a private network may be called, and http."""

    connections: Annotated[int, Field(ge=1, le=100)] = 8
    """How many calls may be under way in each process."""

    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 10.0
    """The longest wait for an answer."""

    _vapid: Vapid | None = PrivateAttr(None)

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
        """Send a notification to one browser."""
        try:
            from adapters.channels.wire.push_subscriptions import Vapid, read_subscription
        except ImportError as error:
            return Misconfigured(reason=f"the package {error.name} is missing: pip install semel[push]")
        try:
            self._vapid = self._vapid or Vapid(self.private_key.get_secret_value(), self.contact)
        except InvalidInput as error:
            return Misconfigured(reason=f"the private key {error}")
        try:
            subscription = read_subscription(message.address, allow_http=self.allow_private)
            content = subscription.encrypted(payload_of(message, self.payload_bytes))
        except InvalidInput as error:
            return Refused(reason=f"the subscription {error}", error_class="bad_token")
        signed = self._vapid.headers(subscription.origin, message.at)
        post = Post(subscription.endpoint, content, {**_headers(message), **signed})
        answer = self._line.call(post)
        return ending_of_push(answer, message.at) if isinstance(answer, Answer) else answer

    def close(self) -> None:
        """Let go of all connections."""
        self._line.close()


def _headers(message: Message) -> dict[str, str]:
    urgency = "high" if message.urgent else "low" if message.lane == "bulk" else "normal"
    return {
        "content-type": "application/octet-stream",
        "content-encoding": "aes128gcm",
        "ttl": str(min(message.seconds_left, LONGEST_TTL)),
        "urgency": urgency,
        "topic": topic_of(message.delivery),
    }
