"""The channel `in_app`."""

from __future__ import annotations

from adapters.channels import ChannelPlugin, channels
from automations.notifications.channels import CallEnding, Message
from domain.endings import Done


@channels.register("in_app")
class InApp(ChannelPlugin):
    """Puts messages into the member's inbox, where they stay until they are read.

    The record of the delivery is the message, and the inbox a table of such records; so there is nobody to
    call, and nothing that could be done twice.
    """

    HONOURS_KEYS = True

    def send(self, message: Message, key: str) -> CallEnding:
        """Say that it is done: it is as soon as that is recorded."""
        return Done()
