"""A webhook as a channel: each event is posted once for each attempt, signed by Standard Webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import SecretStr

from adapters.channels.replies.http import Answer, ending_of_answer
from adapters.channels.wire.http_lines import HttpLine, Post
from adapters.channels.wire.webhook_signatures import signed_headers
from automations.notifications.channels import CallEnding, Message
from domain.endings import Done, Misconfigured, Refused, TryLater, Unknown

GONE = "gone"
"""The class of refusals by a receiver that wants nothing any more."""

_FOR_GOOD = frozenset({GONE, "forbidden_url"})


@dataclass(frozen=True)
class WebhookCalls:
    """Posts to one webhook as it is now (a `Channel`); each of `secrets` signs.

    Whatever is not a yes is tried again for days, since a receiver that is being put right answers anything
    meanwhile. Only one that is gone, or may not be called, is not.
    """

    line: HttpLine
    secrets: Sequence[SecretStr]
    allow_http: bool = False

    honours_keys: ClassVar[bool] = True

    def send(self, message: Message, key: str) -> CallEnding:
        """Post an event; the key is the `webhook-id`, the same on every attempt."""
        if not self.allow_http and not message.address.startswith("https://"):
            return Refused(reason="the URL is not https", error_class="forbidden_url")
        headers = signed_headers(key, message.at, message.body, self.secrets)
        answer = self.line.call(Post(message.address, message.body.encode(), headers))
        ending = ending_of_answer(answer, message.at, harmless=True) if isinstance(answer, Answer) else answer
        return _patient(ending)


def _patient(ending: CallEnding) -> CallEnding:
    match ending:
        case Done():
            return Done()
        case Refused(reason=reason, error_class=error_class) if error_class not in _FOR_GOOD:
            # This event is not liked; what comes behind it may be.
            return TryLater(reason=reason, about="address")
        case Misconfigured(reason=reason) | Unknown(reason=reason):
            return TryLater(reason=reason)
        case _:
            return ending
