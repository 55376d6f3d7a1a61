"""Properties of recurrences, with dateutil as the judge where it knows the rule."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, time, timedelta
from itertools import dropwhile, islice
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr
from hypothesis import assume, given
from hypothesis import strategies as st

from domain.recurrence_rules import RecurrenceRule
from domain.recurrences import Recurrence
from tests.properties.test_civil_time_properties import instants, zones

starts = st.dates(date(1970, 1, 1), date(2060, 1, 1))
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def listed(values: st.SearchStrategy[object]) -> st.SearchStrategy[str]:
    return st.lists(values, min_size=1, max_size=4, unique=True).map(lambda found: ",".join(map(str, found)))


def parts(**choices: st.SearchStrategy[object]) -> st.SearchStrategy[str]:
    """Return rules made of any of these parts."""
    chosen = st.fixed_dictionaries({}, optional=choices)
    return chosen.map(lambda found: "".join(f";{name}={value}" for name, value in found.items()))


weekdays = listed(st.sampled_from(WEEKDAYS))
numbered = listed(st.builds("{}{}".format, st.sampled_from(["", 1, 2, 3, 4, -1, -2]), st.sampled_from(WEEKDAYS)))
months = listed(st.integers(1, 12))
month_days = listed(st.sampled_from([*range(1, 32), *range(-31, 0)]))
interval = st.integers(1, 5)
rules = st.one_of(
    st.builds("FREQ=DAILY{}".format, parts(INTERVAL=interval, BYMONTH=months, BYDAY=weekdays)),
    st.builds("FREQ=DAILY{}".format, parts(BYMONTHDAY=month_days)),
    st.builds("FREQ=WEEKLY{}".format, parts(INTERVAL=interval, BYDAY=weekdays, WKST=st.sampled_from(WEEKDAYS))),
    st.builds("FREQ=MONTHLY{}".format, parts(INTERVAL=interval, BYMONTHDAY=month_days, BYDAY=weekdays)),
    st.builds("FREQ=MONTHLY;BYDAY={}{}".format, numbered, parts(INTERVAL=interval)),
    st.builds("FREQ=MONTHLY;BYDAY={};BYSETPOS={}".format, weekdays, listed(st.sampled_from([1, 2, 4, -1, -2]))),
    st.builds("FREQ=YEARLY{}".format, parts(INTERVAL=interval, BYMONTH=months, BYMONTHDAY=month_days)),
    st.builds("FREQ=YEARLY;BYDAY={}{}".format, numbered, parts(BYMONTH=months)),
    st.builds("FREQ=YEARLY;BYWEEKNO={};BYDAY={}".format, listed(st.integers(1, 52)), weekdays),
    st.builds("FREQ=YEARLY;BYYEARDAY={}".format, listed(st.sampled_from([1, 60, 365, 366, -1, -366]))),
)
skips = st.sampled_from(["", ";SKIP=OMIT", ";SKIP=FORWARD"])


def parsed(text: str, start: date, at: time = time.min) -> Recurrence:
    try:
        return Recurrence.parse(text, start, at)
    except ValueError as refusal:
        assume("never occurs" not in str(refusal))
        raise


@given(rules, starts)
def test_what_omits_days_recurs_as_dateutil_says(rule: str, start: date) -> None:
    found = list(islice(parsed(f"{rule};SKIP=OMIT", start).occurrences(), 15))
    judge = rrulestr(rule, dtstart=datetime.combine(start, time.min))
    assert found == list(islice(judge, len(found)))


@given(rules, skips, starts, st.integers(0, 20_000))
def test_looking_from_later_finds_the_rest_of_the_same(rule: str, skip: str, start: date, later: int) -> None:
    recurrence = parsed(rule + skip, start)
    day = start + timedelta(days=later)
    whole = list(islice(dropwhile(lambda wall: wall.date() <= day, recurrence.occurrences()), 5))
    assert list(islice(recurrence.occurrences_after(day), 5)) == whole


@given(rules, skips, starts, instants, zones)
def test_occurrences_ascend_and_none_comes_twice(
    rule: str, skip: str, start: date, after: datetime, place: ZoneInfo
) -> None:
    recurrence = parsed(rule + skip, start, time(2, 30))
    walls = list(islice(recurrence.occurrences(), 30))
    assert walls == sorted(set(walls))
    assert walls[0].date() >= start
    found = list(islice(recurrence.instants_after(after, place), 3))
    assert all(each.instant > after for each in found)
    assert [each.instant for each in found] == sorted(each.instant for each in found)


@given(starts, st.integers(1, 31))
def test_every_month_has_its_day_or_its_last(start: date, number: int) -> None:
    recurrence = Recurrence.parse(f"FREQ=MONTHLY;BYMONTHDAY={number}", start)
    found = [wall.date() for wall in islice(recurrence.occurrences(), 60)]
    assert all(day.day == min(number, monthrange(day.year, day.month)[1]) for day in found)
    numbers = [day.year * 12 + day.month for day in found]
    assert numbers == list(range(numbers[0], numbers[0] + 60))


@given(st.text(alphabet="FREQ=DAILYWKM;BYNTH0123456789,-+", max_size=60) | st.text(max_size=60))
def test_no_text_makes_the_reader_fail_in_another_way(text: str) -> None:
    try:
        rule = RecurrenceRule.parse(text)
    except ValueError:
        return
    assert RecurrenceRule.parse(str(rule)) == rule
