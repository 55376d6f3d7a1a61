"""Where a text may be cut so that no character falls apart that people see as one (after UAX #29)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_JOINER = "\u200d"
_ELLIPSIS = "…"


def graphemes(text: str) -> Iterator[str]:
    """Yield the characters of a text as people count them."""
    held = ""
    for character in text:
        if held and not _belongs(held, character):
            yield held
            held = ""
        held += character
    if held:
        yield held


def shortened(text: str, room: int) -> str:
    """Return a text that has at most `room` bytes in UTF-8; what was cut off is told by an ellipsis."""
    if len(text.encode("utf-8", "replace")) <= room:
        return text
    kept, left = [], room - len(_ELLIPSIS.encode())
    for grapheme in graphemes(text):
        left -= len(grapheme.encode("utf-8", "replace"))
        if left < 0:
            break
        kept.append(grapheme)
    return "".join(kept).rstrip() + _ELLIPSIS if room >= len(_ELLIPSIS.encode()) else ""


def _belongs(held: str, character: str) -> bool:
    last = held[-1]
    if (last, character) == ("\r", "\n"):
        return True
    if character == _JOINER or _extends(character):
        return not _is_control(last)
    if last == _JOINER:
        return unicodedata.category(character) == "So"
    return (_is_flag(character) and _flags_at_end(held) % 2 == 1) or _is_syllable(last, character)


def _extends(character: str) -> bool:
    code = ord(character)
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or 0x1F3FB <= code <= 0x1F3FF
        or code == 0x200C
        or (0xE0020 <= code <= 0xE007F)
    )


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Zl", "Zp")


def _is_flag(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _flags_at_end(held: str) -> int:
    return len(held) - len(held.rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))


def _is_syllable(last: str, character: str) -> bool:
    """Say whether two Hangul letters are written into one block."""
    kinds = {"L": range(0x1100, 0x1160), "V": range(0x1160, 0x11A8), "T": range(0x11A8, 0x1200)}
    before = next((kind for kind, codes in kinds.items() if ord(last) in codes), "")
    after = next((kind for kind, codes in kinds.items() if ord(character) in codes), "")
    if 0xAC00 <= ord(last) <= 0xD7A3:
        before = "LV" if (ord(last) - 0xAC00) % 28 == 0 else "LVT"
    return (before, after) in {
        ("L", "L"), ("L", "V"), ("V", "V"), ("V", "T"), ("T", "T"), ("LV", "V"), ("LV", "T"), ("LVT", "T"),
    } or (before == "L" and 0xAC00 <= ord(character) <= 0xD7A3)  # fmt: skip
