"""What groups of clock rules say quickly is what each moment says slowly."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from adapters.database.due_moments import Group, grouped
from automations.authoring import read_rules
from automations.clock_rules import due
from automations.rulebook import ready
from domain.civil_time import end_of_date, start_of_date, wall_of
from domain.moments import Moment
from domain.rules import RuleState
from tests.properties.test_civil_time_properties import days, instants, zones

OFFSETS = st.sampled_from(
    ["0 minutes", "90 minutes", "36 hours", "0 days", "1 day", "2 weeks", "1 month", "13 months"]
    + [f"{amount} at {clock}" for amount in ("0 days", "1 day", "1 month") for clock in ("00:00", "09:30", "23:59")]
)


def group_of(when: str, direction: str, offset: str, enabled_at: datetime) -> Group:
    [read] = read_rules([{"id": "r", "when": when, direction: offset, "do": [{"create_task": {"title": "Look"}}]}])
    [group] = grouped([ready(RuleState(1, 1, read.rule, enabled=True, looks_ahead_from=enabled_at))])
    return group


def check(group: Group, moment: Moment) -> None:
    [rule] = group.rules
    slow = due(rule, moment)
    assert group.due(moment) == slow.at
    assert slow.is_past or not group.is_surely_past(moment)


@given(OFFSETS, st.booleans(), instants, zones, st.integers(-100_000, 100_000))
def test_a_group_is_due_when_its_moment_is(
    offset: str, is_before: bool, instant: datetime, place: ZoneInfo, minutes: int
) -> None:
    when, direction = ("booking.starting", "before") if is_before else ("booking.ended", "after")
    enabled_at = instant + timedelta(minutes=minutes)
    moment = Moment("booking/b", when, instant, instant, wall_of(instant, place).date(), place.key, known_at=instant)
    check(group_of(when, direction, offset, max(enabled_at, instant)), moment)
    check(group_of(when, direction, offset, enabled_at), moment)


@given(OFFSETS, st.booleans(), days, zones, st.integers(-100_000, 100_000))
def test_a_group_is_due_when_its_date_is(
    offset: str, is_before: bool, day: date, place: ZoneInfo, minutes: int
) -> None:
    when, direction = ("invoice.due", "before") if is_before else ("invoice.overdue", "after")
    instant = start_of_date(day, place) if is_before else end_of_date(day, place)
    enabled_at = instant + timedelta(minutes=minutes)
    moment = Moment("invoice/i", when, day, instant, day, place.key, known_at=enabled_at - timedelta(days=1))
    check(group_of(when, direction, offset, enabled_at), moment)
