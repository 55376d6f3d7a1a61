"""The service of `webhook.call`: signed posts to addresses that rules name."""

from __future__ import annotations

import json

from adapters.channels.replies.http import Answer, ending_of_answer
from adapters.channels.wire.http_lines import HttpLine, Post
from adapters.channels.wire.webhook_signatures import signed_headers
from adapters.services.outside_settings import WebhookService
from automations.notifications.channels import CallEnding
from automations.ports import Call
from domain.commands import CallWebhook, Command
from domain.endings import Done, Misconfigured, Refused, TryLater


class Webhooks:
    """Calls addresses; the key is the `webhook-id`, by which a receiver tells a repeat.

    Each address is another receiver, so that what one of them answers holds back no other.
    """

    name = "webhook"
    honours_keys = True

    def __init__(self, settings: WebhookService) -> None:
        self._settings = settings
        self._line = HttpLine(
            settings.timeout_seconds,
            connections=settings.connections,
            checks_addresses=True,
            allow_private=settings.allow_private,
        )

    def perform(self, command: Command, call: Call) -> CallEnding:
        """Post the values of a command to its address."""
        if not isinstance(command, CallWebhook):
            return Refused(reason=f"the service {self.name} has no operation {command.OPERATION}", at_fault="rule")
        # ASCII only, so that the signature is over the same bytes whatever a lone surrogate would become.
        body = json.dumps(command.body)
        if len(body) > self._settings.largest_body:
            reason = f"a body of {len(body)} bytes, more than {self._settings.largest_body}"
            return Refused(reason=reason, at_fault="rule", error_class="too_big")
        if not self._settings.allow_private and not command.url.startswith("https://"):
            return Refused(reason="the URL is not https", at_fault="rule", error_class="forbidden_url")
        return self._posted(command.url, body, call)

    def close(self) -> None:
        """Let go of all connections."""
        self._line.close()

    def _posted(self, url: str, body: str, call: Call) -> CallEnding:
        secrets = (self._settings.secret, self._settings.former_secret)
        post = Post(url, body.encode(), signed_headers(call.key, call.at, body, secrets))
        answer = self._line.call(post)
        ending = ending_of_answer(answer, call.at, harmless=True) if isinstance(answer, Answer) else answer
        return _of_one_address(ending)


def _of_one_address(ending: CallEnding) -> CallEnding:
    """Return an ending as one of this address alone, for no lane is to be held by it."""
    match ending:
        case Done():
            return Done()
        case Misconfigured(reason=reason):
            return Refused(reason=reason, error_class="not-allowed")
        case TryLater(reason=reason, wait=wait):
            return TryLater(reason=reason, wait=wait, about="address")
        case _:
            return ending
