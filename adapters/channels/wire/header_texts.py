"""Texts and addresses as headers of a mail hold them (RFC 5322, RFC 2047): one header stays one, whatever it says."""

from __future__ import annotations

import re
from email.header import Header

from domain.errors import InvalidInput

_DIRECTIONS = dict.fromkeys([0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LONGEST_WORD = 60
_PLAIN_NAME = re.compile(r"[A-Za-z0-9 !#$%&'*+/=?^_`{|}~-]+")
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LOCAL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_HEADER = re.compile(r"[\x20-\x7e]*(?:\r\n [\x20-\x7e]+)*")


def one_line(text: str) -> str:
    """Return a text without what would break a line, or turn the direction of what follows."""
    kept = _BREAKS.sub(" ", text.translate(_DIRECTIONS)).strip()
    return kept.encode("utf-8", "replace").decode("utf-8")


def header_text(text: str, name: str) -> str:
    """Return a text as the value of a header of this name: ASCII, folded, and what it says, never what it encodes."""
    line = one_line(text)
    needs_words = "=?" in line or not line.isascii() or any(len(word) > _LONGEST_WORD for word in line.split())
    charset = "utf-8" if needs_words else "us-ascii"
    return Header(line, charset, maxlinelen=76, header_name=name).encode(linesep="\r\n")


def mailbox(name: str, address: str, header: str) -> str:
    """Return a name and an address as the value of a header of this name."""
    line = one_line(name)
    if not line:
        return address
    if _PLAIN_NAME.fullmatch(line) and len(line) < _LONGEST_WORD and "=?" not in line:
        return f"{line} <{address}>"
    # Encoded even where quotes would do: clients and folding disagree about quotes, never about encoded words.
    return (
        f"{Header(line, 'utf-8', maxlinelen=76, header_name=header).encode(linesep=chr(13) + chr(10))}\r\n <{address}>"
    )


def checked_header(value: str) -> str:
    """Return the value of a header; raises InvalidInput where it would end the header on the wire."""
    if _HEADER.fullmatch(value) is None:
        raise InvalidInput("a header would not stay one")
    return value


def mail_address(text: str) -> str:
    """Return an address as a mail server without SMTPUTF8 takes it, its domain by IDNA 2008.

    Raises InvalidInput for what is no such address. Domains of a network of its own, like `.local`, are none of our
    business.
    """
    import idna

    local, at, domain = text.rpartition("@")
    try:
        ascii_domain = domain if domain.isascii() else idna.encode(domain, uts46=True).decode("ascii")
    except UnicodeError:  # which the errors of idna are
        ascii_domain = ""
    is_one = at and _LOCAL.fullmatch(local) and _DOMAIN.fullmatch(ascii_domain) and len(local) <= 64
    if not is_one or len(ascii_domain) + len(local) > 253:
        raise InvalidInput("is no address that mail can be sent to")
    return f"{local}@{ascii_domain}"
