"""What holds for the calendar of every reminder, whatever was told about it and in whichever order."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.reminder_calendar import Occurrence, occurrence_on, occurrences, why_not_due
from tests.domain.reminder_story import MADRID, at, reminder, told

Told = tuple[datetime, str, dict[str, Any]]

BEGIN, END = at("2026-07-20 00:00"), at("2026-09-15 00:00")
INSTANTS = st.integers(0, 24 * 4 * 30).map(lambda quarters: at("2026-08-01 00:00") + timedelta(minutes=15 * quarters))
DAYS = st.integers(0, 29).map(lambda day: (date(2026, 8, 1) + timedelta(days=day)).isoformat())
CLOCKS = st.sampled_from(["09:00", "12:00", "18:30"])
RECURRENCES = st.sampled_from(["FREQ=DAILY", "FREQ=WEEKLY", "FREQ=WEEKLY;BYDAY=MO,TH", "FREQ=DAILY;INTERVAL=3"])


@st.composite
def beginnings(draw: st.DrawFn) -> Told:
    when = draw(INSTANTS)
    if draw(st.booleans()):
        return told(when, "scheduled", at=draw(CLOCKS), due_on=draw(DAYS), status="scheduled")
    calendar = {"recurrence": draw(RECURRENCES), "starts_on": draw(DAYS)}
    return told(when, "scheduled", at=draw(CLOCKS), status="scheduled", **calendar)


def events() -> st.SearchStrategy[Told]:
    return st.one_of(
        st.builds(lambda when, clock: told(when, "changed", at=clock), INSTANTS, CLOCKS),
        st.builds(lambda when, day: told(when, "changed", due_on=day), INSTANTS, DAYS),
        st.builds(lambda when, text: told(when, "changed", recurrence=text), INSTANTS, RECURRENCES),
        st.builds(lambda when, until: told(when, "snoozed", until=until), INSTANTS, INSTANTS),
        st.builds(lambda when, day: told(when, "snoozed", until=day), INSTANTS, DAYS),
        st.builds(lambda when: told(when, "completed"), INSTANTS),
        st.builds(lambda when, day: told(when, "completed", due_on=day), INSTANTS, DAYS),
        st.builds(lambda when: told(when, "cancelled", status="cancelled"), INSTANTS),
        beginnings(),
    )


@st.composite
def stories(draw: st.DrawFn) -> list[Told]:
    return [draw(beginnings()), *draw(st.lists(events(), max_size=5))]


def found_in(story: list[Told], order: list[int] | None = None) -> list[Occurrence]:
    return list(occurrences(reminder(*story, order=order), MADRID, BEGIN, END))


@given(stories(), st.randoms(use_true_random=False))
def test_the_order_of_recording_changes_no_date_and_no_instant(story: list[Told], random: Any) -> None:
    order = list(range(len(story)))
    random.shuffle(order)
    expected = sorted((found.date, found.instant, found.wall) for found in found_in(story))
    assert sorted((found.date, found.instant, found.wall) for found in found_in(story, order)) == expected


@given(stories(), st.lists(INSTANTS, max_size=6))
def test_a_window_is_the_sum_of_its_parts(story: list[Told], cuts: list[datetime]) -> None:
    whole = found_in(story)
    edges = [BEGIN, *sorted(cuts), END]
    entity = reminder(*story)
    pieces = [found for begin, end in pairwise(edges) for found in occurrences(entity, MADRID, begin, end)]
    assert sorted(pieces, key=lambda found: found.date) == sorted(whole, key=lambda found: found.date)
    assert [found.instant for found in pieces] == [found.instant for found in whole]


@given(stories())
def test_a_date_has_one_occurrence_at_most_and_it_is_found_by_its_date(story: list[Told]) -> None:
    found = found_in(story)
    assert len({each.date for each in found}) == len(found)
    entity = reminder(*story)
    for each in found:
        assert occurrence_on(entity, MADRID, each.date) == each


@given(stories(), st.randoms(use_true_random=False))
def test_what_is_recorded_later_gives_no_other_name_to_what_was_due(story: list[Told], random: Any) -> None:
    order = list(range(len(story)))
    random.shuffle(order)
    named: dict[tuple[date, datetime], str] = {}
    for count in range(1, len(order) + 1):
        for found in found_in(story, order[:count]):
            place = (found.date, found.instant)
            assert named.setdefault(place, found.occasion) == found.occasion
    # A snooze until a date keeps its name where a late fact corrects the clock time that it was told against.
    if not any(isinstance(data.get("until"), str) and len(data["until"]) == 10 for _, _, data in story):
        assert len(set(named.values())) == len(named)


@given(stories())
def test_what_is_due_stands_unless_the_reminder_is_over(story: list[Told]) -> None:
    entity = reminder(*story)
    is_over = entity.get("status") == "cancelled"
    for found in found_in(story):
        reason = why_not_due(entity, MADRID, found.date, occasion=found.occasion)
        assert reason == ("reminder cancelled" if is_over else None)
