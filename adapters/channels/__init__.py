"""The ways to people: one module for each channel.

A channel is a frozen model of its settings, a docstring that becomes its manual page, and the method `send`.
What the answers of its protocol mean stands in `replies`, what goes over the wire in `wire`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from automations.notifications.channels import CallEnding, Message
from automations.registry import Registry


class ChannelPlugin(BaseModel):
    """The base of every channel; `HONOURS_KEYS` says whether a repeated key is not sent again.

    `EXAMPLE` holds settings that are enough to set the channel up, for the manual and for tests.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    NAME: ClassVar[str]
    HONOURS_KEYS: ClassVar[bool] = False
    EXAMPLE: ClassVar[Mapping[str, Any]] = {}

    @property
    def honours_keys(self) -> bool:
        """Say whether a repeated key is answered with the first result, which makes a repeat harmless."""
        return self.HONOURS_KEYS

    @property
    def concurrency(self) -> int:
        """Return how many messages may be on their way at a time."""
        return 1

    def send(self, message: Message, key: str) -> CallEnding:
        """Send a message, once for each key if keys are honoured; every expected ending is returned."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what is kept open between two messages."""


channels: Registry[ChannelPlugin] = Registry("channel", __name__)
"""Every channel by its name."""
