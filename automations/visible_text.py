"""Text without characters that nobody sees: they break headers and terminals, or turn text around."""

from __future__ import annotations

import re

_BREAKS = re.compile("\r\n?|[\n\v\f\x85\u2028\u2029]")
_CONTROLS = re.compile("[\0-\x1f\x7f-\x9f]+")
_UNSEEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]")
_ENCODED_WORD = re.compile(r"=(?=\?[^?\s]{1,75}\?[bBqQ]\?)")
_SURROGATES = re.compile("[\ud800-\udfff]")


def one_line(text: str) -> str:
    """Return the text on one line: breaks and other control characters become spaces.

    Marks that turn the direction of writing go; half characters become U+FFFD.
    """
    return text if text.isprintable() else _without_unseen(_CONTROLS.sub(" ", _BREAKS.sub(" ", text)))


def header_line(text: str) -> str:
    """Return the text on one line, in which nothing is an encoded word that would be read as something else.

    `=?utf-8?q?…?=` can hold a line break (RFC 2047), so a blank is put behind its first sign.
    """
    return _ENCODED_WORD.sub("= ", one_line(text))


def many_lines(text: str) -> str:
    """Return the text with every kind of line break as a new line; the rest as in `one_line`."""
    return _without_unseen(_BREAKS.sub("\n", text))


def whole(text: str) -> str:
    """Return the text with U+FFFD for half characters, which no encoding can write."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _without_unseen(text: str) -> str:
    return text if text.isprintable() else whole(_UNSEEN.sub("", text))
