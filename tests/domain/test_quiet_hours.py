"""Quiet hours: half-open, over midnight, on weekdays, and where clocks change (delivery trials E1, E6, E10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from domain.civil_time import zone
from domain.quiet_hours import QuietWindow
from domain.spaces import QuietHours

BERLIN = "Europe/Berlin"


def window(start: str, end: str, *days: str, place: str = BERLIN) -> QuietWindow:
    return QuietWindow.of(QuietHours.model_validate({"start": start, "end": end, "days": days}), zone(place))


def at(wall: str, place: str = BERLIN, *, second: bool = False) -> datetime:
    """Return the instant of a wall time; the `second` one where there are two."""
    return datetime.fromisoformat(wall).replace(tzinfo=zone(place), fold=int(second)).astimezone(UTC)


NIGHT = window("22:00", "08:00")


@pytest.mark.parametrize(
    ("wall", "quiet"),
    [
        ("2026-05-12 21:59:59", False),
        ("2026-05-12 22:00", True),
        ("2026-05-12 23:59:59.999999", True),
        ("2026-05-13 00:00", True),
        ("2026-05-13 07:59:59", True),
        ("2026-05-13 08:00", False),
    ],
)
def test_e1_a_window_over_midnight_works_after_midnight_too(wall: str, quiet: bool) -> None:
    assert NIGHT.is_quiet(at(wall)) is quiet
    assert NIGHT.over_at(at(wall)) == (at("2026-05-13 08:00") if quiet else at(wall))


def test_within_a_day_it_is_quiet_between_its_times() -> None:
    noon = window("12:00", "14:00")
    assert [noon.is_quiet(at(f"2026-05-12 {clock}")) for clock in ("11:59", "12:00", "13:59", "14:00", "00:00")] == [
        False,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(("start", "end"), [("22:00", "22:00"), ("8:00", "08:00"), ("08:00", "08:00:00")])
def test_e10_a_window_that_ends_where_it_begins_is_refused(start: str, end: str) -> None:
    with pytest.raises(ValidationError, match="start and end are the same"):
        QuietHours.model_validate({"start": start, "end": end})


def test_e10_a_window_may_leave_one_minute() -> None:
    nearly_all = window("02:00", "01:59")
    assert nearly_all.over_at(at("2026-05-12 02:00")) == at("2026-05-13 01:59")
    assert not nearly_all.is_quiet(at("2026-05-13 01:59:59"))
    assert nearly_all.is_quiet(at("2026-05-13 02:00"))


def test_the_day_on_which_a_night_begins_owns_all_of_it() -> None:
    friday = window("22:00", "08:00", "friday")
    assert friday.is_quiet(at("2026-05-15 22:00"))  # a Friday
    assert friday.over_at(at("2026-05-16 03:00")) == at("2026-05-16 08:00")
    assert not friday.is_quiet(at("2026-05-15 03:00"))
    assert not friday.is_quiet(at("2026-05-16 22:00"))


class TestWhereClocksChange:
    """Trial E6: in Berlin 02:00 became 03:00 on 2027-03-28, and 03:00 became 02:00 on 2027-10-31."""

    def test_an_end_that_does_not_exist_is_the_first_instant_after_the_gap(self) -> None:
        assert window("22:00", "02:30").over_at(at("2027-03-28 01:00")) == at("2027-03-28 03:00")

    def test_a_start_that_does_not_exist_is_that_instant_too(self) -> None:
        late = window("02:30", "06:00")
        assert not late.is_quiet(at("2027-03-28 01:59:59"))
        assert late.over_at(at("2027-03-28 03:00")) == at("2027-03-28 06:00")

    def test_an_end_that_comes_twice_is_the_second_one(self) -> None:
        night = window("22:00", "02:30")
        assert night.over_at(at("2027-10-31 02:45")) == at("2027-10-31 02:30", second=True)

    def test_a_start_that_comes_twice_is_the_first_one(self) -> None:
        late = window("02:30", "06:00")
        assert not late.is_quiet(at("2027-10-31 02:29:59"))
        assert late.is_quiet(at("2027-10-31 02:10", second=True))

    def test_a_day_that_a_zone_skips_leaves_no_hole(self) -> None:
        samoa = window("22:00", "08:00", place="Pacific/Apia")
        over = samoa.over_at(at("2011-12-29 23:00", "Pacific/Apia"))
        assert over == at("2011-12-31 08:00", "Pacific/Apia")

    def test_lord_howe_shifts_by_half_an_hour(self) -> None:
        place = "Australia/Lord_Howe"
        night = window("22:00", "01:45", place=place)
        assert night.over_at(at("2027-04-04 01:50", place)) - at("2027-04-04 01:50", place) == timedelta(minutes=25)
