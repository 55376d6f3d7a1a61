"""What a member prefers: exact before general, off before on, unset falls to the type (delivery trial F1)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import InvalidInput
from domain.preferences import (
    Preferences,
    PreferenceSet,
    Subject,
    chosen,
    cleared,
    preferences_of,
    preferences_stream,
    unsubscribed,
    with_quiet_hours,
    without_quiet_hours,
)
from domain.spaces import QuietHours

AT = datetime(2026, 8, 8, 12, tzinfo=UTC)
STREAM = preferences_stream("m1")
NIGHT = QuietHours(start="22:00", end="08:00")


def preferring(*choices: tuple[str, str, bool]) -> Preferences:
    """Return what a member prefers after these choices, in their order."""
    found = Preferences(STREAM)
    for type_name, channel, enabled in choices:
        for event in chosen(found, Subject(type_name, channel), enabled=enabled, at=AT):
            found = found.after(event)
    return found


def wants(found: Preferences, type_name: str, channel: str) -> bool | None:
    choice = found.about(type_name, channel)
    return None if choice is None else choice.enabled


def test_what_nobody_chose_is_unset() -> None:
    assert wants(Preferences(STREAM), "news", "email") is None


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ([("", "", False)], False),
        ([("", "", False), ("", "email", True)], True),
        ([("", "", False), ("news", "", True)], True),
        ([("", "email", False), ("news", "", True)], False),
        ([("news", "", False), ("", "email", True)], False),
        ([("", "email", False), ("news", "email", True)], True),
        ([("news", "email", False), ("", "", True), ("news", "", True)], False),
        ([("news", "sms", False), ("receipt", "email", False)], None),
    ],
)
def test_the_more_exact_choice_counts_and_between_equals_a_no(
    choices: list[tuple[str, str, bool]], expected: bool | None
) -> None:
    assert wants(preferring(*choices), "news", "email") is expected


@pytest.mark.parametrize("wider", [("news", ""), ("", "email"), ("", "")])
def test_a_wider_no_ends_a_narrower_yes_that_came_before(wider: tuple[str, str]) -> None:
    found = preferring(("news", "email", True), (*wider, False))
    assert wants(found, "news", "email") is False
    assert wants(preferring(("news", "email", True), (*wider, False), ("news", "email", True)), "news", "email") is True


def test_the_same_choice_again_is_no_event() -> None:
    found = preferring(("news", "email", False))
    assert chosen(found, Subject("news", "email"), enabled=False, at=AT) == []


def test_who_unsubscribes_has_left_even_if_it_was_off() -> None:
    found = preferring(("news", "email", False))
    [event] = unsubscribed(found, Subject("news", "email"), at=AT)
    assert isinstance(event, PreferenceSet)
    left = found.after(event)
    choice = left.about("news", "email")
    assert choice is not None
    assert (choice.enabled, choice.how) == (False, "unsubscribed")
    assert unsubscribed(left, Subject("news", "email"), at=AT) == []
    assert chosen(left, Subject("news", "email"), enabled=False, at=AT) == []


def test_a_cleared_choice_is_unset_again() -> None:
    found = preferring(("news", "email", False))
    [event] = cleared(found, Subject("news", "email"), at=AT)
    assert wants(found.after(event), "news", "email") is None
    assert cleared(found.after(event), Subject("news", "email"), at=AT) == []


def test_a_type_has_a_name() -> None:
    with pytest.raises(InvalidInput, match="is no type"):
        chosen(Preferences(STREAM), Subject("No Type"), enabled=True, at=AT)


def test_own_quiet_hours_take_the_place_of_the_spaces_until_they_are_cleared() -> None:
    found = Preferences(STREAM)
    events = with_quiet_hours(found, NIGHT, at=AT)
    found = preferences_of(STREAM, events)
    assert (found.own_hours, found.quiet_hours) == (True, NIGHT)
    assert with_quiet_hours(found, NIGHT, at=AT) == []
    none = preferences_of(STREAM, [*events, *with_quiet_hours(found, None, at=AT)])
    assert (none.own_hours, none.quiet_hours) == (True, None)
    gone = none.after(without_quiet_hours(none, at=AT)[0])
    assert (gone.own_hours, gone.version) == (False, 3)
    assert without_quiet_hours(gone, at=AT) == []


CHOICES = st.lists(
    st.tuples(st.sampled_from(["", "news", "receipt"]), st.sampled_from(["", "email", "sms"]), st.booleans()),
    max_size=8,
)


@given(CHOICES)
def test_what_was_chosen_last_holds_for_all_that_it_is_about_if_it_is_a_no(
    choices: list[tuple[str, str, bool]],
) -> None:
    found = preferring(*choices)
    if choices and not choices[-1][2]:
        type_name, channel, _ = choices[-1]
        assert wants(found, type_name or "news", channel or "email") is False
