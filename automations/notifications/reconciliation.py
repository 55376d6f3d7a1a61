"""What is asked about messages that nobody reported on, and when silence means that nothing is heard any more."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from automations.notifications.callbacks import Receipt
from domain.endings import TryLater
from domain.notices import CALLBACKS_SILENT, Notice

ASKED_AFTER: tuple[timedelta, ...] = (timedelta(hours=1), timedelta(hours=6), timedelta(hours=24), timedelta(hours=71))
"""How long after it was taken a provider is asked about a message that it did not report on."""

SILENT_AFTER = timedelta(hours=2)
"""How long nothing was heard of a channel, though messages went out on it, until staff are told."""

SILENT_FROM = 5
"""How many messages without a report make a silence; one or two phones may be switched off."""


@runtime_checkable
class LooksUp(Protocol):
    """A channel whose provider can be asked what became of a message."""

    def look_up(self, provider_message_id: str) -> Receipt | TryLater | None:
        """Return what became of a message, None where that is not known, or that the provider cannot be asked now."""
        ...


@dataclass(frozen=True, slots=True)
class Silence:
    """What is known about a channel: how many messages wait for a report, since when, and when one came last."""

    channel: str
    waiting: int
    oldest: datetime
    heard_at: datetime | None

    @property
    def notice(self) -> Notice:
        """Return what staff are told, once for each silence."""
        since = self.heard_at or self.oldest
        payload = {"channel": self.channel, "messages": self.waiting, "since": since.isoformat()}
        return Notice(CALLBACKS_SILENT, f"{self.channel}/{since.isoformat()}", payload)

    def is_alarming(self, at: datetime) -> bool:
        """Say whether staff should look: messages are old enough to be reported on, and nothing at all was heard."""
        unheard = self.heard_at is None or at - self.heard_at >= SILENT_AFTER
        return unheard and self.waiting >= SILENT_FROM and at - self.oldest >= SILENT_AFTER


def ask_again_at(sent_at: datetime, at: datetime) -> datetime | None:
    """Return when to ask next about a message that was taken then, or None where it was asked often enough."""
    return next((sent_at + wait for wait in ASKED_AFTER if sent_at + wait > at), None)
