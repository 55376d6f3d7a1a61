"""Messages for tests of channels, and ways to look at what arrived."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from automations.notifications.channels import Message

AT = datetime(2026, 8, 8, 9, 30, tzinfo=UTC)

MESSAGE = Message(
    delivery="d1",
    to="member/m1",
    channel="email",
    address="mia@example.org",
    type="news",
    subject="Zoë's room",
    text="Good morning\n会議室",
    locale="en",
    lane="transactional",
    urgent=False,
    requested_at=AT,
    expires_at=AT + timedelta(hours=1),
    at=AT,
)


def message(channel: str = "email", **values: Any) -> Message:
    """Return a message to Mia, with other values where the test names them."""
    return replace(MESSAGE, channel=channel, **values)


def opened(content: bytes) -> EmailMessage:
    """Return a mail as a mail program reads it."""
    mail = message_from_bytes(content, policy=default)
    assert isinstance(mail, EmailMessage)
    return mail
