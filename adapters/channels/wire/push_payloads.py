"""What a browser is told by a push: small enough for every push service, cut where people would cut it."""

from __future__ import annotations

import base64
import json
from hashlib import sha256

from adapters.channels.wire.graphemes import shortened
from automations.notifications.channels import Message

CEILING = 3993
"""Bytes that fit into a message of 4096 once they are encrypted (RFC 8291, 4)."""

_LONGEST_TITLE = 400
_LONGEST_LINK = 1000


def topic_of(delivery: str) -> str:
    """Return the topic of a delivery, 32 characters that tell the push service nothing."""
    return base64.urlsafe_b64encode(sha256(delivery.encode("utf-8", "replace")).digest()[:24]).decode("ascii")


def payload_of(message: Message, room: int) -> bytes:
    """Return the JSON that a browser shows, in at most `room` bytes (at least 200): the text gives way first."""
    link = message.link if len(message.link.encode("utf-8", "replace")) <= min(_LONGEST_LINK, room // 3) else ""
    title = shortened(message.subject, min(_LONGEST_TITLE, room // 4))
    body = message.text
    while True:
        payload = _json(message, title, body, link)
        over = len(payload) - room
        if over <= 0:
            return payload
        if not body and not title:
            return _json(message, "", "", "", bare=True)
        # What JSON escapes is longer than its text, so that it may take more than one round.
        if body:
            body = shortened(body, max(0, len(body.encode("utf-8", "replace")) - over))
        else:
            title = shortened(title, max(0, len(title.encode("utf-8", "replace")) - over))


def _json(message: Message, title: str, body: str, link: str, *, bare: bool = False) -> bytes:
    told = {"id": message.delivery[:64], "title": title, "body": body, "link": link}
    if not bare:
        told |= {"type": message.type[:100], "locale": message.locale[:35]}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
