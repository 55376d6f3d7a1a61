"""The channel `email`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PrivateAttr, SecretStr

from adapters.channels import ChannelPlugin, channels
from adapters.channels.wire.background import background
from adapters.channels.wire.header_texts import mail_address
from adapters.channels.wire.mails import Sender, mail_of
from automations.notifications.channels import CallEnding, Message
from domain.endings import Done, Refused
from domain.errors import InvalidInput

if TYPE_CHECKING:
    from adapters.channels.wire.smtp_pool import SmtpPool


def _checked(address: str) -> str:
    try:
        return mail_address(address) if address else ""
    except InvalidInput as error:
        raise ValueError(str(error)) from None


Address = Annotated[str, AfterValidator(_checked)]


@channels.register("email")
class Email(ChannelPlugin):
    """Hands mails to a mail server (SMTP), over connections that stay open for many.

    Each delivery has a Message-ID of its own, the same on every attempt. A mail is plain text, with HTML beside it
    where its template has some, and carries the headers of one-click unsubscription where its type can be left.
    Where the connection breaks after the mail itself was sent, nobody knows whether it was taken; it is not sent
    again unless its type allows that.
    """

    EXAMPLE: ClassVar[Mapping[str, Any]] = {"host": "smtp.example.org", "from_address": "desk@example.org"}

    host: Annotated[str, Field(min_length=1, max_length=253)]
    """The mail server."""

    port: Annotated[int, Field(ge=1, le=65_535)] = 587
    """Its port: usually 587 with `starttls`, 465 with `tls`."""

    tls: Literal["starttls", "tls", "none"] = "starttls"
    """How the connection is encrypted; a server that offers no STARTTLS gets no mail."""

    certificates: Path | None = None
    """A file with the authorities that the server is believed by, instead of the usual ones."""

    username: str = ""
    """Who logs in; nobody where it is empty."""

    password: SecretStr = SecretStr("")
    """The password of that user."""

    from_address: Address
    """Who mails are from."""

    from_name: Annotated[str, Field(max_length=200)] = ""
    """The name beside it."""

    reply_to: Address = ""
    """Where answers go, if not there."""

    hello_name: Annotated[str, Field(pattern=r"^[A-Za-z0-9.:\[\]-]{1,253}$")] = "localhost"
    """How this machine calls itself to the mail server."""

    connections: Annotated[int, Field(ge=1, le=100)] = 8
    """How many connections each process has open at most."""

    mails_each: Annotated[int, Field(ge=1)] = 500
    """After how many mails a connection is replaced."""

    timeout_seconds: Annotated[float, Field(gt=0, le=300)] = 30.0
    """The longest wait for one reply."""

    _pool: SmtpPool | None = PrivateAttr(None)

    @property
    def concurrency(self) -> int:
        """Return how many messages may be on their way at a time."""
        return self.connections

    def send(self, message: Message, key: str) -> CallEnding:
        """Hand a mail in; the same key has the same Message-ID."""
        from adapters.channels.wire.smtp_pool import Envelope

        try:
            recipient = mail_address(message.address)
        except InvalidInput as error:
            return Refused(reason=f"the address {error}", error_class="bad_address")
        try:
            content = mail_of(message, Sender(self.from_address, self.from_name, self.reply_to))
        except InvalidInput as error:
            return Refused(reason=str(error), error_class="content")
        ending = background().run(self._opened().deliver(Envelope(self.from_address, recipient, content)))
        named = f"{message.delivery}@{self.from_address.rpartition('@')[2]}"
        return Done(result={"provider_message_id": named}) if isinstance(ending, Done) else ending

    def close(self) -> None:
        """Take leave of the mail server."""
        if self._pool is not None:
            background().run(self._pool.close())

    def _opened(self) -> SmtpPool:
        from adapters.channels.wire.smtp_pool import MailServer, SmtpPool

        if self._pool is None:
            server = MailServer(
                host=self.host,
                port=self.port,
                tls=self.tls,
                username=self.username,
                password=self.password.get_secret_value(),
                hello_name=self.hello_name,
                seconds=self.timeout_seconds,
                certificates=self.certificates,
            )
            self._pool = SmtpPool(server, self.connections, self.mails_each)
        return self._pool
