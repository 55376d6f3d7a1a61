"""When reminders are due, after everything that people say about them."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from domain.reminder_calendar import next_occurrence, occurrence_on, occurrences, why_not_due
from tests.domain.reminder_story import FAR_AHEAD, LONG_AGO, MADRID, at, due, once, reminder, told, weekly

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = "2026-08-08 at 2026-08-08 12:00"
SECOND = "2026-08-15 at 2026-08-15 12:00"
THIRD = "2026-08-22 at 2026-08-22 12:00"
LAST = "2026-08-29 at 2026-08-29 12:00"


def test_a_weekly_reminder_is_due_each_week() -> None:
    assert due(reminder(weekly())) == [FIRST, SECOND, THIRD, LAST]


def test_the_end_of_a_window_belongs_to_it_and_its_beginning_does_not() -> None:
    assert due(reminder(weekly()), "2026-08-08 12:00", "2026-08-15 12:00") == [SECOND]


def test_what_is_due_once_is_due_once() -> None:
    assert due(reminder(once("2026-08-15"))) == [SECOND]


def test_a_reminder_told_after_its_time_on_the_same_day_is_due() -> None:
    assert due(reminder(once("2026-08-08", when="2026-08-08 12:30"))) == [FIRST]
    assert due(reminder(weekly("2026-08-08 12:30"))) == [FIRST, SECOND, THIRD, LAST]


def test_a_recurring_reminder_is_not_due_on_days_before_it_was_told() -> None:
    assert due(reminder(weekly("2026-08-20 09:00"))) == [THIRD, LAST]


def test_the_occurrence_knows_when_it_became_known() -> None:
    story = reminder(weekly(), told(at("2026-08-09 10:00"), "changed", at="13:00"))
    first, second = islice(occurrences(story, MADRID, LONG_AGO), 2)
    assert first.known_at == at("2026-08-08 00:00") + timedelta(seconds=1)
    assert second.known_at == at("2026-08-09 10:00") + timedelta(seconds=2)


class TestZones:
    """A wall time is the same time of day through the year (trial E6)."""

    def test_a_time_that_does_not_exist_moves_on_by_the_gap_once(self) -> None:
        story = reminder(told(LONG_AGO, "scheduled", at="02:30", due_on="2027-03-28", time_zone="Europe/Berlin"))
        [found] = occurrences(story, MADRID, LONG_AGO)
        assert (found.instant, found.occasion) == (datetime(2027, 3, 28, 1, 30, tzinfo=UTC), "2027-03-28")

    def test_a_time_that_exists_twice_means_the_first(self) -> None:
        story = reminder(told(LONG_AGO, "scheduled", at="02:30", due_on="2027-10-31", time_zone="Europe/Berlin"))
        [found] = occurrences(story, MADRID, LONG_AGO)
        assert found.instant == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)

    @pytest.mark.parametrize("day", ["2027-03-28", "2027-10-31"])
    def test_nine_o_clock_is_nine_o_clock_on_all_days(self, day: str) -> None:
        story = reminder(told(LONG_AGO, "scheduled", at="09:00", recurrence="FREQ=DAILY", starts_on="2000-01-01"))
        begin = at(f"{day} 00:00", BERLIN) - timedelta(days=1)
        found = list(occurrences(story, BERLIN, begin, begin + timedelta(days=3)))
        assert [each.instant.astimezone(BERLIN).hour for each in found] == [9, 9, 9]

    def test_the_own_zone_wins_over_that_of_the_space(self) -> None:
        story = reminder(told(LONG_AGO, "scheduled", at="09:00", due_on="2026-08-15", time_zone="Asia/Tokyo"))
        [found] = occurrences(story, MADRID, LONG_AGO)
        assert found.instant == datetime(2026, 8, 15, 0, 0, tzinfo=UTC)

    def test_the_31st_falls_on_the_last_day_of_shorter_months(self) -> None:
        story = reminder(told(LONG_AGO, "scheduled", at="09:00", recurrence="FREQ=MONTHLY", starts_on="2026-01-31"))
        dates = [str(each.date) for each in islice(occurrences(story, MADRID, LONG_AGO), 4)]
        assert dates == ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]


class TestCompleted:
    """A completion ends one occurrence."""

    def test_an_occurrence_that_is_named_is_done_before_its_time(self) -> None:
        story = reminder(weekly(), told(at("2026-08-10 09:00"), "completed", due_on="2026-08-15"))
        assert due(story) == [FIRST, THIRD, LAST]

    def test_without_a_date_it_is_that_of_the_day(self) -> None:
        for clock in ("11:00", "13:00"):
            story = reminder(weekly(), told(at(f"2026-08-15 {clock}"), "completed"))
            assert due(story) == [FIRST, THIRD, LAST]

    def test_without_a_date_on_another_day_it_is_the_latest(self) -> None:
        story = reminder(weekly(), told(at("2026-08-18 09:00"), "completed"))
        assert due(story) == [FIRST, THIRD, LAST]

    def test_twice_is_once(self) -> None:
        story = reminder(weekly(), told(at("2026-08-18 09:00"), "completed"), told(at("2026-08-18 09:01"), "completed"))
        assert due(story) == [FIRST, THIRD, LAST]

    def test_before_the_first_it_is_the_first(self) -> None:
        story = reminder(weekly("2026-08-01 09:00"), told(at("2026-08-02 09:00"), "completed"))
        assert due(story) == [SECOND, THIRD, LAST]

    def test_what_is_due_once_is_over(self) -> None:
        assert due(reminder(once("2026-08-15"), told(at("2026-08-10 09:00"), "completed"))) == []

    def test_the_date_of_a_reminder_is_not_changed_by_that_of_a_completion(self) -> None:
        story = reminder(once("2026-08-15"), told(at("2026-08-10 09:00"), "completed", due_on="2026-08-10"))
        assert due(story) == [SECOND]
        assert story.get("due_on") == date(2026, 8, 15)

    def test_a_later_date_makes_it_due_again(self) -> None:
        story = reminder(
            once("2026-08-15"),
            told(at("2026-08-10 09:00"), "completed"),
            told(at("2026-08-11 09:00"), "changed", due_on="2026-08-22"),
        )
        assert due(story) == [THIRD]

    def test_a_later_snooze_brings_it_back(self) -> None:
        story = reminder(
            weekly(),
            told(at("2026-08-15 12:10"), "completed"),
            told(at("2026-08-15 12:20"), "snoozed", until=at("2026-08-16 09:00")),
        )
        assert due(story) == [FIRST, "2026-08-15#2 at 2026-08-16 09:00", THIRD, LAST]


class TestSnoozed:
    """A snooze moves one occurrence, and makes a new occasion of it."""

    def test_what_was_due_is_due_again_later(self) -> None:
        story = reminder(weekly(), told(at("2026-08-15 12:30"), "snoozed", until=at("2026-08-15 15:00")))
        assert due(story) == [FIRST, "2026-08-15#2 at 2026-08-15 15:00", THIRD, LAST]

    def test_what_is_due_later_on_the_day_is_put_off(self) -> None:
        story = reminder(weekly(), told(at("2026-08-15 11:30"), "snoozed", until=at("2026-08-15 15:00")))
        assert due(story) == [FIRST, "2026-08-15#2 at 2026-08-15 15:00", THIRD, LAST]

    def test_what_would_ring_in_the_meantime_is_put_off(self) -> None:
        story = reminder(weekly(), told(at("2026-08-14 20:00"), "snoozed", until=at("2026-08-15 15:00")))
        assert due(story) == [FIRST, "2026-08-15#2 at 2026-08-15 15:00", THIRD, LAST]

    def test_otherwise_the_latest_is_meant(self) -> None:
        story = reminder(weekly(), told(at("2026-08-17 20:00"), "snoozed", until=at("2026-08-18 09:00")))
        assert due(story) == [FIRST, "2026-08-15#2 at 2026-08-18 09:00", THIRD, LAST]

    def test_before_the_first_it_is_the_first(self) -> None:
        story = reminder(
            weekly("2026-08-01 09:00"), told(at("2026-08-02 09:00"), "snoozed", until=at("2026-08-09 09:00"))
        )
        assert due(story)[0] == "2026-08-08#2 at 2026-08-09 09:00"

    def test_the_last_snooze_of_an_occurrence_counts(self) -> None:
        story = reminder(
            weekly(),
            told(at("2026-08-15 12:30"), "snoozed", until=at("2026-08-15 15:00")),
            told(at("2026-08-15 14:00"), "snoozed", until=at("2026-08-16 10:00")),
        )
        assert due(story) == [FIRST, "2026-08-15#3 at 2026-08-16 10:00", THIRD, LAST]

    def test_the_same_snooze_twice_is_one_occasion(self) -> None:
        story = reminder(
            weekly(),
            told(at("2026-08-15 12:30"), "snoozed", until=at("2026-08-15 15:00")),
            told(at("2026-08-15 12:31"), "snoozed", until=at("2026-08-15 15:00")),
        )
        assert due(story)[1] == "2026-08-15#2 at 2026-08-15 15:00"

    def test_until_a_date_means_its_clock_time_on_it(self) -> None:
        story = reminder(weekly(), told(at("2026-08-15 12:30"), "snoozed", until="2026-08-17"))
        assert due(story)[1] == "2026-08-15#2 at 2026-08-17 12:00"

    def test_the_date_stays_and_the_wall_time_tells_the_day(self) -> None:
        story = reminder(weekly(), told(at("2026-08-15 12:30"), "snoozed", until=at("2026-08-17 09:00")))
        found = occurrence_on(story, MADRID, date(2026, 8, 15))
        assert found is not None
        assert (str(found.date), str(found.wall)) == ("2026-08-15", "2026-08-17 09:00:00")

    def test_completing_it_ends_the_snooze(self) -> None:
        story = reminder(
            weekly(),
            told(at("2026-08-15 12:30"), "snoozed", until=at("2026-08-17 09:00")),
            told(at("2026-08-16 09:00"), "completed", due_on="2026-08-15"),
        )
        assert due(story) == [FIRST, THIRD, LAST]

    def test_a_new_date_ends_the_snooze_of_what_is_due_once(self) -> None:
        story = reminder(
            once("2026-08-15"),
            told(at("2026-08-15 12:30"), "snoozed", until=at("2026-08-17 09:00")),
            told(at("2026-08-16 09:00"), "changed", due_on="2026-08-22"),
        )
        assert due(story) == [THIRD]


class TestChanged:
    """A change of the calendar holds from its own time on."""

    def test_another_clock_time_moves_what_is_still_to_come(self) -> None:
        story = reminder(weekly(), told(at("2026-08-10 09:00"), "changed", at="13:00"))
        assert due(story, up_to="2026-08-22 23:00") == [
            FIRST,
            "2026-08-15#2 at 2026-08-15 13:00",
            "2026-08-22#2 at 2026-08-22 13:00",
        ]

    def test_a_later_time_on_the_day_rings_again(self) -> None:
        story = reminder(weekly(), told(at("2026-08-15 12:30"), "changed", at="15:00"))
        assert due(story)[:2] == [FIRST, "2026-08-15#2 at 2026-08-15 15:00"]

    def test_a_time_that_has_passed_does_not_ring_again(self) -> None:
        story = reminder(weekly(), told(at("2026-08-15 14:00"), "changed", at="13:00"))
        assert due(story)[:2] == [FIRST, SECOND]

    def test_what_was_to_come_rings_late_where_its_new_time_has_passed(self) -> None:
        story = reminder(weekly(), told(at("2026-08-15 11:30"), "changed", at="09:00"))
        assert due(story)[:2] == [FIRST, "2026-08-15#2 at 2026-08-15 09:00"]

    def test_there_and_back_is_the_first_occasion_again(self) -> None:
        story = reminder(
            weekly(),
            told(at("2026-08-10 09:00"), "changed", at="13:00"),
            told(at("2026-08-10 10:00"), "changed", at="12:00"),
        )
        assert due(story) == [FIRST, SECOND, THIRD, LAST]

    @pytest.mark.parametrize("same", [{"about": "Bea"}, {"channels": ["sms"]}, {"at": "12:00:00"}])
    def test_what_is_no_change_of_time_changes_no_occasion(self, same: dict[str, object]) -> None:
        assert due(reminder(weekly(), told(at("2026-08-10 09:00"), "changed", **same))) == [
            FIRST,
            SECOND,
            THIRD,
            LAST,
        ]

    def test_another_date_moves_what_is_due_once(self) -> None:
        story = reminder(once("2026-08-15"), told(at("2026-08-10 09:00"), "changed", due_on="2026-08-22"))
        assert due(story) == [THIRD]

    def test_another_date_takes_over_also_after_the_first(self) -> None:
        story = reminder(once("2026-08-15"), told(at("2026-08-15 13:00"), "changed", due_on="2026-08-22"))
        assert due(story) == [THIRD]

    def test_another_weekday_keeps_what_was_due(self) -> None:
        story = reminder(weekly(), told(at("2026-08-18 09:00"), "changed", recurrence="FREQ=WEEKLY;BYDAY=TH"))
        assert due(story) == [
            FIRST,
            SECOND,
            "2026-08-20 at 2026-08-20 12:00",
            "2026-08-27 at 2026-08-27 12:00",
        ]

    def test_what_recurs_becomes_due_once(self) -> None:
        story = reminder(weekly(), told(at("2026-08-10 09:00"), "changed", due_on="2026-08-20"))
        assert due(story) == [FIRST, "2026-08-20 at 2026-08-20 12:00"]

    def test_a_recurrence_that_cannot_be_read_makes_nothing_due(self) -> None:
        story = reminder(weekly(), told(at("2026-08-10 09:00"), "changed", recurrence="FREQ=HOURLY"))
        assert due(story) == [FIRST]


class TestCancelled:
    """A cancelled reminder has a past and no future."""

    def test_nothing_more_is_due(self) -> None:
        story = reminder(weekly(), told(at("2026-08-10 09:00"), "cancelled", status="cancelled"))
        assert due(story) == [FIRST]

    def test_neither_is_what_was_snoozed(self) -> None:
        story = reminder(
            weekly(),
            told(at("2026-08-15 12:30"), "snoozed", until=at("2026-08-17 09:00")),
            told(at("2026-08-16 09:00"), "cancelled", status="cancelled"),
        )
        assert due(story) == [FIRST]

    def test_scheduled_again_it_goes_on_from_then(self) -> None:
        story = reminder(
            weekly(),
            told(at("2026-08-10 09:00"), "cancelled", status="cancelled"),
            weekly("2026-08-20 09:00"),
        )
        assert due(story) == [FIRST, THIRD, LAST]


class TestWhyNotDue:
    """The re-check asks whether what fell due still stands, and hears why not."""

    DAY, DUE = date(2026, 8, 15), at("2026-08-15 12:00")

    def reason(self, *story: tuple[datetime, str, dict[str, object]]) -> str | None:
        return why_not_due(reminder(weekly(), *story), MADRID, self.DAY, occasion="2026-08-15", due=self.DUE)

    def test_it_stands(self) -> None:
        assert self.reason() is None

    def test_completed(self) -> None:
        assert self.reason(told(at("2026-08-15 12:10"), "completed")) == "reminder completed"

    def test_snoozed(self) -> None:
        snooze = told(at("2026-08-15 12:10"), "snoozed", until=at("2026-08-15 15:00"))
        assert self.reason(snooze) == "reminder snoozed until 2026-08-15 15:00"

    def test_changed(self) -> None:
        assert self.reason(told(at("2026-08-15 12:10"), "changed", at="15:00")) == "reminder changed"

    def test_cancelled(self) -> None:
        assert self.reason(told(at("2026-08-15 12:10"), "cancelled", status="cancelled")) == "reminder cancelled"

    def test_moved_to_another_date(self) -> None:
        story = reminder(once("2026-08-15"), told(at("2026-08-15 12:10"), "changed", due_on="2026-08-22"))
        assert why_not_due(story, MADRID, self.DAY, due=self.DUE) == "reminder changed"

    def test_a_corrected_zone_is_no_change(self) -> None:
        story = reminder(weekly())
        assert why_not_due(story, BERLIN, self.DAY, occasion="2026-08-15") is None


class TestOldAndOdd:
    """Reminders begun decades ago cost no more, and nothing that is told breaks the calendar."""

    def test_a_daily_reminder_of_1950_answers_at_once(self) -> None:
        story = reminder(told(LONG_AGO, "scheduled", at="09:00", recurrence="FREQ=DAILY", starts_on="1950-01-01"))
        next_occurrence(story, MADRID, FAR_AHEAD)
        begun = time.perf_counter()
        for _ in range(20):
            next_occurrence(story, MADRID, FAR_AHEAD)
        assert time.perf_counter() - begun < 1

    @pytest.mark.parametrize("day", ["1800-01-01", "9000-12-31", "1899-12-31"])
    def test_dates_at_the_edge_of_the_calendar_are_never_due(self, day: str) -> None:
        assert list(occurrences(reminder(once(day)), ZoneInfo("Pacific/Apia"), LONG_AGO)) == []
        recurring = reminder(told(LONG_AGO, "scheduled", at="23:59", recurrence="FREQ=YEARLY", starts_on=day))
        assert len(list(occurrences(recurring, ZoneInfo("America/Adak"), LONG_AGO, FAR_AHEAD))) in (0, 100)

    @pytest.mark.parametrize("until", ["1800-01-01", "9000-12-31", "9000-12-31T23:59:59+00:00"])
    def test_a_snooze_to_the_edge_breaks_nothing(self, until: str) -> None:
        story = reminder(weekly(), told(at("2026-08-15 12:30"), "snoozed", until=until))
        assert len(due(story)) == 3

    def test_facts_of_long_ago_break_nothing(self) -> None:
        first = datetime(1800, 1, 1, tzinfo=UTC)
        story = reminder(
            told(first, "scheduled", at="09:00", recurrence="FREQ=DAILY", starts_on="2026-08-30"),
            told(first, "snoozed", until=first),
            told(first, "completed"),
        )
        assert next_occurrence(story, MADRID, LONG_AGO) is not None

    def test_parts_without_a_beginning_are_nothing_yet(self) -> None:
        story = reminder(
            told(LONG_AGO, "completed"), told(LONG_AGO, "snoozed", until=FAR_AHEAD), told(LONG_AGO, "changed")
        )
        assert next_occurrence(story, MADRID, LONG_AGO) is None
        assert occurrence_on(story, MADRID, date(2026, 8, 15)) is None
