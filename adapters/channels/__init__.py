"""The ways to people: one module for each channel.

A channel is a frozen model of its settings, a docstring that becomes its manual page, and the method `send`.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from automations.notifications.channels import CallEnding, Message
from automations.registry import Registry


class ChannelPlugin(BaseModel):
    """The base of every channel; `HONOURS_KEYS` says whether a repeated key is not sent again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    NAME: ClassVar[str]
    HONOURS_KEYS: ClassVar[bool] = False

    @property
    def honours_keys(self) -> bool:
        """Say whether a repeated key is answered with the first result, which makes a repeat harmless."""
        return self.HONOURS_KEYS

    def send(self, message: Message, key: str) -> CallEnding:
        """Send a message, once for each key if keys are honoured; every expected ending is returned."""
        raise NotImplementedError


channels: Registry[ChannelPlugin] = Registry("channel", __name__)
"""Every channel by its name."""
