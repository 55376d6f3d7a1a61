"""Captured channels: they keep what would go out, and fail when the scenario says so."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from adapters.scenarios.captured import Switchboard
from automations.notifications.channels import CallEnding, Message
from automations.ports import Clock
from automations.scenario import CHANNELS
from domain.endings import Done

HONOURING = frozenset({"in_app"})
"""Channels that do not send a key twice. A mail server or a phone company does."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A message that the provider of a channel took, and when."""

    message: Message
    key: str
    at: datetime


class Outgoing:
    """Everything that providers took so far, in that order; it outlives the engine that sends."""

    def __init__(self, switchboard: Switchboard, clock: Clock) -> None:
        self.switchboard, self.clock = switchboard, clock
        self.accepted: list[Accepted] = []

    def channels(self) -> dict[str, CapturedChannel]:
        """Return every channel by its name."""
        return {name: CapturedChannel(name, self) for name in CHANNELS}

    def take(self, message: Message, key: str, *, once: bool) -> None:
        """Keep a message; of a key that was seen only where the provider does not mind keys."""
        if not (once and any(each.key == key for each in self.accepted)):
            self.accepted.append(Accepted(message, key, self.clock.now()))


class CapturedChannel:
    """A channel whose provider keeps what it takes."""

    def __init__(self, name: str, outgoing: Outgoing) -> None:
        self.name, self.honours_keys = name, name in HONOURING
        self._outgoing = outgoing

    def send(self, message: Message, key: str) -> CallEnding:
        """Take a message, or fail as the scenario wants it."""
        switchboard = self._outgoing.switchboard
        return switchboard.answer(self.name, self.name, lambda: self._taken(message, key), counted=False)

    def _taken(self, message: Message, key: str) -> CallEnding:
        self._outgoing.take(message, key, once=self.honours_keys)
        return Done(result={"provider_message_id": key})
