"""Parts of an SMS, against a count that is made the slow way (trials L)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.channels.wire.sms_parts import encoding_of, parts_of, units_of


@pytest.mark.parametrize(
    ("text", "units", "parts"),
    [
        ("", 0, 1),
        ("a" * 160, 160, 1),
        ("a" * 161, 161, 2),
        ("a" * 306, 306, 2),
        ("a" * 307, 307, 3),
        ("|" * 69 + "∞", 70, 1),
        ("|" * 70 + "∞", 71, 2),
        ("]" * 80, 160, 1),
        ("]" * 81, 162, 2),
        ("€" * 76 + "a" + "€" * 76, 305, 2),
        ("€" * 152, 304, 2),
        ("a" + "€" * 152, 305, 2),
        ("😎" * 35, 70, 1),
        ("😎" * 36, 72, 2),
        ("😎" * 66, 132, 2),
        ("😎" * 67, 134, 3),
        ("ñ" * 160, 160, 1),
        ("ç" * 70, 70, 1),
        ("\n\r" * 80, 160, 1),
        ("`", 1, 1),
    ],
)
def test_l_parts_are_counted_by_the_standard(text: str, units: int, parts: int) -> None:
    assert (units_of(text), parts_of(text)) == (units, parts)


@given(st.text(st.sampled_from("ab€]∞😎é\n"), max_size=400))
def test_l_no_part_ends_inside_a_character(text: str) -> None:
    widths = [
        len(each.encode("utf-16-be")) // 2 if encoding_of(text) == "UCS-2" else 2 if each in "€]" else 1
        for each in text
    ]
    alone, room = (160, 153) if encoding_of(text) == "GSM-7" else (70, 67)
    rows: list[int] = [0]
    for width in widths:
        rows = [*rows[:-1], rows[-1] + width] if rows[-1] + width <= room else [*rows, width]
    assert parts_of(text) == (1 if sum(widths) <= alone else len(rows))
