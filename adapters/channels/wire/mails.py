"""A message as the bytes of a mail: plain text, and HTML beside it where there is some (RFC 5322, RFC 2046)."""

from __future__ import annotations

import re
from binascii import b2a_qp
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from hashlib import sha256

from adapters.channels.wire.header_texts import checked_header, header_text, mail_address, mailbox, one_line
from automations.notifications.channels import Message
from domain.errors import InvalidInput

_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,200}")


@dataclass(frozen=True, slots=True)
class Sender:
    """Who a mail is from; answers go to `reply_to`, or to the address itself."""

    address: str
    name: str = ""
    reply_to: str = ""


def mail_of(message: Message, sender: Sender) -> bytes:
    """Return the bytes of a mail, with CRLF; each attempt at one delivery has the same Message-ID.

    Raises InvalidInput where the address is none, or a header cannot be written.
    """
    headers = "".join(f"{name}: {checked_header(value)}\r\n" for name, value in _headers(message, sender))
    return headers.encode("ascii") + _body(message)


def message_id(delivery: str, address: str) -> str:
    """Return the Message-ID of a delivery, in the domain of the sender's address."""
    name = delivery if _SAFE_ID.fullmatch(delivery) else sha256(delivery.encode("utf-8", "replace")).hexdigest()
    return f"<{name}@{address.rpartition('@')[2]}>"


def _headers(message: Message, sender: Sender) -> Iterator[tuple[str, str]]:
    address = mail_address(sender.address)
    yield "From", mailbox(sender.name, address, "From")
    yield "To", mail_address(message.address)
    if sender.reply_to:
        yield "Reply-To", mail_address(sender.reply_to)
    yield "Subject", header_text(message.subject, "Subject")
    yield "Date", _date(message.at)
    yield "Message-ID", message_id(message.delivery, address)
    if message.locale:
        yield "Content-Language", header_text(message.locale.replace("_", "-"), "Content-Language")
    yield "Auto-Submitted", "auto-generated"
    if message.unsubscribe_url:
        yield "List-Unsubscribe", f"<{_url(message.unsubscribe_url)}>"
        yield "List-Unsubscribe-Post", "List-Unsubscribe=One-Click"
    yield "MIME-Version", "1.0"


def _date(at: datetime) -> str:
    return format_datetime(at)


def _url(url: str) -> str:
    """Return a URL that stays one inside its brackets; a long one must not be folded, for it would be cut."""
    if not url.isascii() or one_line(url) != url or set(url) & set('<>, "') or len(url) > 900:
        raise InvalidInput("the address to unsubscribe at is no plain URL")
    return url


def _body(message: Message) -> bytes:
    plain = _part("plain", message.text)
    if not message.html:
        return plain
    boundary = b"=_" + sha256(message.delivery.encode("utf-8", "replace")).hexdigest()[:32].encode()
    parts = (plain, _part("html", message.html))
    head = b'Content-Type: multipart/alternative; boundary="' + boundary + b'"\r\n\r\n'
    return head + b"".join(b"--" + boundary + b"\r\n" + part + b"\r\n" for part in parts) + b"--" + boundary + b"--\r\n"


def _part(kind: str, text: str) -> bytes:
    """Return one part, quoted-printable: no line is too long for a server, and none is a boundary."""
    head = f'Content-Type: text/{kind}; charset="utf-8"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n'
    lines = _LINE_ENDS.sub("\r\n", text).encode("utf-8", "replace").replace(b"\0", b"")
    encoded = b2a_qp(lines + b"\r\n", istext=True)
    return head.encode("ascii") + encoded
