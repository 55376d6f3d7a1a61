"""The channel `capture`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from adapters.channels import ChannelPlugin, channels
from automations.notifications.channels import CallEnding, Message
from domain.endings import Done


@channels.register("capture")
class Capture(ChannelPlugin):
    """Keeps messages instead of sending them, for tests and rehearsals.

    They stand in `messages`, in the order in which they were sent. With a `path` each is written to that file
    too, as a line of JSON.
    """

    HONOURS_KEYS = True

    path: Path | None = None
    """The file that messages are written to as well."""
    _messages: dict[str, Message] = PrivateAttr(default_factory=dict)

    @property
    def messages(self) -> list[Message]:
        """Return what was sent since this channel was made."""
        return list(self._messages.values())

    def send(self, message: Message, key: str) -> CallEnding:
        """Keep a message, unless its key was seen."""
        if key not in self._messages:
            self._messages[key] = message
            if self.path is not None and not self._is_written(key):
                self._write(message, key)
        return Done(result={"provider_message_id": key})

    def _is_written(self, key: str) -> bool:
        assert self.path is not None
        if not self.path.exists():
            return False
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return any(json.loads(line)["key"] == key for line in lines)

    def _write(self, message: Message, key: str) -> None:
        assert self.path is not None
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(as_json(message, key), ensure_ascii=False) + "\n")


def as_json(message: Message, key: str) -> dict[str, Any]:
    """Return a message as a file keeps it."""
    return {
        "key": key,
        "to": message.to,
        "channel": message.channel,
        "address": message.address,
        "type": message.type,
        "subject": message.subject,
        "text": message.text,
        **({"html": message.html} if message.html else {}),
        **({"link": message.link} if message.link else {}),
        "locale": message.locale,
    }
