"""Connections to one mail server, kept open for many mails (RFC 5321)."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import aiosmtplib

from adapters.channels.replies.smtp import Phase, Reply, ending_of_break, ending_of_reply
from automations.notifications.channels import CallEnding
from domain.endings import Misconfigured

Tls = Literal["starttls", "tls", "none"]


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mails are handed in, and as whom.

    `hello_name` is how we call ourselves, `seconds` the longest wait for one reply.
    """

    host: str
    port: int
    tls: Tls = "starttls"
    username: str = ""
    password: str = ""
    hello_name: str = "localhost"
    seconds: float = 30.0
    certificates: Path | None = None

    def trusted(self) -> ssl.SSLContext | None:
        """Return what servers are believed by: the usual authorities, or those of a file."""
        return None if self.tls == "none" else ssl.create_default_context(cafile=self.certificates)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A mail on its way: `content` has CRLF at the ends of its lines."""

    sender: str
    recipient: str
    content: bytes


class _Stopped(Exception):
    """A mail has come to an end before, or because, the server said so."""

    def __init__(self, ending: CallEnding) -> None:
        super().__init__(ending.kind)
        self.ending = ending


@dataclass(slots=True)
class SmtpPool:
    """Hands mails to one server over at most `connections`; used inside the background loop.

    A connection is closed after `mails_each`, when it was idle for `idle_seconds`, and after any doubt.
    """

    server: MailServer
    connections: int = 8
    mails_each: int = 500
    idle_seconds: float = 5.0
    _idle: list[_Connection] = field(default_factory=list)
    _slots: asyncio.Semaphore | None = None
    _context: ssl.SSLContext | None = None

    async def deliver(self, envelope: Envelope) -> CallEnding:
        """Return how handing a mail in has ended; every reply and every silence is an ending."""
        self._slots = self._slots or asyncio.Semaphore(self.connections)
        async with self._slots:
            while self._idle:
                kept = self._idle.pop()
                kept.wake()
                if kept.is_open:
                    ending = await self._sent_over(kept, envelope)
                    if not kept.had_gone:
                        return ending
            self._context = self._context or self.server.trusted()
            return await self._sent_over(_Connection(self.server, self._context), envelope)

    async def close(self) -> None:
        """Take leave of the server on all connections."""
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.wake()
            await connection.leave()

    async def _sent_over(self, connection: _Connection, envelope: Envelope) -> CallEnding:
        try:
            ending = await connection.send(envelope)
        except BaseException:
            connection.drop()
            raise
        if connection.is_open and connection.mails < self.mails_each:
            self._idle.append(connection)
            connection.rest(self.idle_seconds, self._forget)
        else:
            connection.drop()
        return ending

    def _forget(self, connection: _Connection) -> None:
        if connection in self._idle:
            self._idle.remove(connection)
        connection.drop()


class _Connection:
    """One connection, from the greeting on; it carries one mail at a time."""

    def __init__(self, server: MailServer, context: ssl.SSLContext | None) -> None:
        self.mails = 0
        self.had_gone = False
        self._server = server
        self._phase: Phase = "connect"
        self._alarm: asyncio.TimerHandle | None = None
        self._client = aiosmtplib.SMTP(
            hostname=server.host,
            port=server.port,
            timeout=server.seconds,
            use_tls=server.tls == "tls",
            start_tls=False,
            tls_context=context,
            local_hostname=server.hello_name,
        )

    @property
    def is_open(self) -> bool:
        """Say whether another mail can go over it."""
        return self._client.is_connected

    async def send(self, envelope: Envelope) -> CallEnding:
        """Return how a mail has ended; afterwards the connection is ready for the next one, or closed."""
        self.had_gone = False
        try:
            if self.mails == 0:
                await self._open()
            return await self._hand_in(envelope)
        except _Stopped as stopped:
            return stopped.ending
        except aiosmtplib.SMTPResponseException as error:
            self.drop()
            return ending_of_reply(self._phase, Reply(error.code, error.message))
        except (aiosmtplib.SMTPTimeoutError, TimeoutError):
            self.drop()
            return ending_of_break(self._phase, f"the mail server did not answer in time to the {self._phase}")
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            # A connection that went while it was idle is no news about the mail: nothing of it was sent.
            self.had_gone = self.mails > 0 and self._phase == "sender"
            self.drop()
            return ending_of_break(self._phase, f"the connection broke at the {self._phase}: {type(error).__name__}")

    def rest(self, seconds: float, forget: Callable[[_Connection], None]) -> None:
        """Stay open for the next mail, but not for long."""
        self._alarm = asyncio.get_running_loop().call_later(seconds, forget, self)

    def wake(self) -> None:
        """Begin to be used again."""
        if self._alarm is not None:
            self._alarm.cancel()

    def drop(self) -> None:
        """Close without a word."""
        self._client.close()

    async def leave(self) -> None:
        """Close as the protocol wants it, if the server still listens."""
        with contextlib.suppress(aiosmtplib.SMTPException, OSError):
            await self._client.quit(timeout=min(1.0, self._server.seconds))
        self.drop()

    async def _open(self) -> None:
        server = self._server
        self._phase = "connect"
        await self._client.connect()
        self._phase = "hello"
        await self._client.ehlo()
        if server.tls == "starttls":
            self._phase = "tls"
            if not self._client.supports_extension("starttls"):
                raise _Stopped(Misconfigured(reason="the mail server offers no STARTTLS"))
            await self._client.starttls()
            await self._client.ehlo()
        if server.username:
            self._phase = "login"
            if not self._client.supported_auth_methods:
                raise _Stopped(Misconfigured(reason="the mail server offers no way to log in"))
            await self._client.login(server.username, server.password)

    async def _hand_in(self, envelope: Envelope) -> CallEnding:
        self.mails += 1
        await self._command("sender", b"MAIL", f"FROM:<{envelope.sender}>".encode("ascii"))
        await self._command("recipient", b"RCPT", f"TO:<{envelope.recipient}>".encode("ascii"))
        await self._command("data", b"DATA", wanted=3)
        self._phase = "content"
        reply = await self._content(envelope.content)
        if reply.code == 421:
            self.drop()
        return ending_of_reply("content", reply)

    async def _command(self, phase: Phase, *words: bytes, wanted: int = 2) -> None:
        """Send a command; a reply other than the wanted one is the end of this mail, not of the connection."""
        self._phase = phase
        answer = await self._client.execute_command(*words)
        if answer.code // 100 == wanted:
            return
        self.had_gone = answer.code == 421 and phase == "sender"
        if answer.code // 100 not in (4, 5):
            self.drop()
        elif phase != "sender" and self.is_open:
            await self._reset()
        raise _Stopped(ending_of_reply(phase, Reply(answer.code, answer.message)))

    async def _reset(self) -> None:
        try:
            answer = await self._client.execute_command(b"RSET")
        except (aiosmtplib.SMTPException, OSError):
            self.drop()
            return
        if answer.code // 100 != 2:
            self.drop()

    async def _content(self, content: bytes) -> Reply:
        """Send the mail itself: once this begins, only the server knows whether it has taken it."""
        protocol = self._client.protocol
        if protocol is None:
            raise aiosmtplib.SMTPServerDisconnected("the server left before the mail itself")
        protocol.write(_stuffed(content) + b".\r\n")
        answer = await protocol.read_response(timeout=self._server.seconds)
        return Reply(answer.code, answer.message)


def _stuffed(content: bytes) -> bytes:
    """Return a mail in which no line can be taken for its end."""
    dotted = content.replace(b"\r\n.", b"\r\n..")
    return b"." + dotted if dotted.startswith(b".") else dotted
