"""The channel `outbox`."""

from __future__ import annotations

import json
from pathlib import Path

from adapters.channels import ChannelPlugin, channels
from adapters.channels.capture import as_json
from adapters.channels.wire.mails import Sender, mail_of
from automations.notifications.channels import CallEnding, Message
from domain.endings import Done, Misconfigured, Refused
from domain.errors import InvalidInput

SENDER = Sender("desk@semel.invalid")
"""Who mails of the outbox are from: nobody, for they go nowhere."""


@channels.register("outbox")
class Outbox(ChannelPlugin):
    """Writes each message into a file instead of sending it, until a provider is set up.

    An email becomes `<folder>/email/<delivery>.eml`, which any mail program opens; what goes to another
    channel a `.json` file in a folder of its name.
    """

    HONOURS_KEYS = True

    folder: Path = Path("outbox")
    """The folder that messages are written into; it is made where it is missing."""

    def send(self, message: Message, key: str) -> CallEnding:
        """Write a message; the same key writes the same file again."""
        is_email = message.channel == "email"
        try:
            content = mail_of(message, SENDER) if is_email else json.dumps(as_json(message, key), indent=2).encode()
        except InvalidInput as error:
            return Refused(reason=f"no mail can be made of it: the address {error}", error_class="bad_address")
        path = self.folder / message.channel / f"{key}{'.eml' if is_email else '.json'}"
        try:
            _write_whole(path, content)
        except OSError as error:
            return Misconfigured(reason=f"{path.parent} cannot be written to: {error.strerror}")
        return Done(result={"provider_message_id": key})


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file so that whoever opens it finds all of it, or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
