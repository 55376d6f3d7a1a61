"""What is read as a recurrence rule, and why something is not."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from domain.recurrence_rules import Frequency, RecurrenceRule, RecurrenceText, RuleWeekday, Skip


class Recurring(BaseModel):
    recurrence: RecurrenceText


def test_every_part_is_read() -> None:
    rule = RecurrenceRule.parse("FREQ=MONTHLY;INTERVAL=2;BYMONTH=1,2;BYDAY=MO,-1FR;BYSETPOS=-1;WKST=SU;SKIP=OMIT")
    assert (rule.frequency, rule.interval, rule.months) == (Frequency.MONTHLY, 2, (1, 2))
    assert rule.weekdays == (RuleWeekday(0, 0), RuleWeekday(4, -1))
    assert (rule.positions, rule.week_start, rule.skip) == ((-1,), 6, Skip.OMIT)


def test_a_day_that_a_month_lacks_moves_back_unless_said_otherwise() -> None:
    assert RecurrenceRule.parse("FREQ=MONTHLY").skip is Skip.BACKWARD


@pytest.mark.parametrize("text", ["RRULE:FREQ=DAILY", "freq=daily", " FREQ=DAILY; ", "FREQ=DAILY"])
def test_a_rule_is_kept_in_one_spelling(text: str) -> None:
    if text.startswith(" "):
        text = text.replace("; ", ";")
    assert Recurring(recurrence=text).recurrence == "FREQ=DAILY"


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "not a part"),
        ("weekly", "not a part"),
        ("FREQ=", "not a part"),
        ("INTERVAL=2", "has no FREQ"),
        ("FREQ=WEEKLY;UNTL=20191023", "did you mean UNTIL"),
        ("FREQ=WEKLY", "did you mean WEEKLY"),
        ("FREQ=DAILY;FREQ=DAILY", "twice"),
        ("FREQ=HOURLY", "one occurrence a day at most"),
        ("FREQ=MINUTELY", "one occurrence a day at most"),
        ("FREQ=SECONDLY", "one occurrence a day at most"),
        ("FREQ=DAILY;BYHOUR=9,17", "clock time stands in `at`"),
        ("FREQ=DAILY;COUNT=5;UNTIL=20261231", "exclude each other"),
        ("FREQ=DAILY;INTERVAL=0", "from 1 to 1000"),
        ("FREQ=DAILY;INTERVAL=-1", "from 1 to 1000"),
        ("FREQ=DAILY;INTERVAL=1001", "from 1 to 1000"),
        ("FREQ=DAILY;COUNT=0", "from 1 to 10000"),
        ("FREQ=DAILY;COUNT=99999999999999999999", "from 1 to 10000"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "from -31 to -1"),
        ("FREQ=MONTHLY;BYMONTHDAY=32", "from 1 to 31"),
        ("FREQ=MONTHLY;BYMONTHDAY=1,", "in BYMONTHDAY"),
        ("FREQ=YEARLY;BYMONTH=13", "from 1 to 12"),
        ("FREQ=YEARLY;BYMONTH=-1", "from 1 to 12"),
        ("FREQ=WEEKLY;BYDAY=XX", "not a weekday"),
        ("FREQ=MONTHLY;BYDAY=0MO", "not a weekday"),
        ("FREQ=WEEKLY;BYDAY=1MO", "MONTHLY and YEARLY"),
        ("FREQ=MONTHLY;BYDAY=6MO", "no month has a sixth"),
        ("FREQ=YEARLY;BYMONTH=2;BYDAY=6MO", "no month has a sixth"),
        ("FREQ=MONTHLY;BYDAY=2FR;BYMONTHDAY=13", "goes with BYMONTH alone"),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=1MO", "goes with BYMONTH alone"),
        ("FREQ=MONTHLY;BYWEEKNO=20", "are for FREQ=YEARLY"),
        ("FREQ=DAILY;BYYEARDAY=1", "are for FREQ=YEARLY"),
        ("FREQ=YEARLY;BYWEEKNO=20;BYMONTHDAY=1", "only one of"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "does not go with FREQ=WEEKLY"),
        ("FREQ=DAILY;BYSETPOS=1", "needs another BY part"),
        ("FREQ=DAILY;WKST=X", "none of MO"),
        ("FREQ=MONTHLY;SKIP=BACKWARDS", "did you mean BACKWARD"),
        ("FREQ=MONTHLY;RSCALE=HEBREW", "only GREGORIAN"),
        ("FREQ=DAILY;UNTIL=tomorrow", "not a date or time"),
        ("FREQ=DAILY;UNTIL=20260230", "not in the calendar"),
        ("FREQ=DAILY;UNTIL=20260228T250000Z", "clock"),
        ("FREQ=DAILY\nFREQ=DAILY", "none of DAILY"),
        pytest.param("FREQ=DAILY;" * 10_000, "at most 400 characters", id="very long"),
    ],
)
def test_what_is_no_rule_is_refused_with_the_reason(text: str, because: str) -> None:
    with pytest.raises(ValidationError, match=because):
        Recurring(recurrence=text)
