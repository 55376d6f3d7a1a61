"""Where texts are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.channels.wire.graphemes import graphemes, shortened


@pytest.mark.parametrize(
    "grapheme",
    [
        "a",
        "e\u0301",
        "👨‍👩‍👧‍👦",
        "👍🏽",
        "🇩🇪",
        "🏴\U000e0067\U000e0062\U000e007f",
        "❤️",
        "\r\n",
        "각",
        "\u1100\u1161\u11a8",
        "한",
        "கி",
    ],
)
def test_what_people_see_as_one_stays_one(grapheme: str) -> None:
    assert list(graphemes(grapheme * 3)) == [grapheme] * 3


def test_flags_are_pairs() -> None:
    assert list(graphemes("🇩🇪🇫🇷🇪")) == ["🇩🇪", "🇫🇷", "🇪"]


@given(st.text(), st.integers(0, 60))
def test_a_text_fits_and_is_the_beginning_of_the_whole(text: str, room: int) -> None:
    assert "".join(graphemes(text)) == text
    cut = shortened(text, room)
    assert len(cut.encode("utf-8", "replace")) <= room
    assert cut == text or text.startswith(cut.removesuffix("…"))
