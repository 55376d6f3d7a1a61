"""Into how many parts an SMS falls (3GPP TS 23.038 and 23.040): counted from the text, not from any encoding of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

_BASIC = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
_EXTENDED = "\f^{}\\[~]|€"
_WIDTHS = {**dict.fromkeys(_BASIC, 1), **dict.fromkeys(_EXTENDED, 2)}

_ALONE = {"GSM-7": 160, "UCS-2": 70}
_JOINED = {"GSM-7": 153, "UCS-2": 67}


def encoding_of(text: str) -> Literal["GSM-7", "UCS-2"]:
    """Return the encoding that a text needs: one character that GSM-7 has not turns all of it into UCS-2."""
    return "GSM-7" if all(character in _WIDTHS for character in text) else "UCS-2"


def units_of(text: str) -> int:
    """Return the length of a text in units of its encoding: septets, or pairs of bytes."""
    return sum(_widths(text))


def parts_of(text: str) -> int:
    """Return the number of parts; no part ends inside a character. A text without any is one part."""
    encoding = encoding_of(text)
    if units_of(text) <= _ALONE[encoding]:
        return 1
    return _packed(_widths(text), _JOINED[encoding])


def _widths(text: str) -> list[int]:
    if encoding_of(text) == "GSM-7":
        return [_WIDTHS[character] for character in text]
    return [2 if ord(character) > 0xFFFF else 1 for character in text]


def _packed(widths: Iterable[int], room: int) -> int:
    parts, used = 1, 0
    for width in widths:
        if used + width > room:
            parts, used = parts + 1, 0
        used += width
    return parts
