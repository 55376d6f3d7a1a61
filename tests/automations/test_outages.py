"""What an outage has left behind is counted once, whoever has claimed it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from automations.outages import Tally
from domain.executions import Execution, ExecutionStarted, Status, stream_of
from domain.moment_ranges import Window

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
GAP = Window(NOON - 24 * HOUR, NOON)


def execution(
    key: str, due: datetime | None, *, at: datetime = NOON, late: bool = True, status: Status = "running"
) -> Execution:
    claim = ExecutionStarted(
        stream=stream_of(key),
        version=1,
        at=at,
        rule="r",
        trigger="booking.starting",
        entity="booking/b1",
        occasion="2026-05-12",
        rule_version=1,
        event_date=date(2026, 5, 12),
        due=due,
        late=late,
    )
    return Execution(key=key, version=1, claim=claim, occurrence=claim, status=status, at=at)


def counted(*executions: Execution) -> tuple[int, int]:
    tally = Tally(GAP)
    tally.add(executions)
    return tally.missed, tally.late


def test_what_was_late_and_what_was_missed_are_counted_apart() -> None:
    due = NOON - HOUR
    assert counted(execution("a", due), execution("b", due, status="done"), execution("c", due, status="missed")) == (
        1,
        2,
    )


def test_the_same_execution_counts_once() -> None:
    due = NOON - HOUR
    tally = Tally(GAP)
    tally.add([execution("a", due)])
    tally.add([execution("a", due, status="done"), execution("a", due, status="done")])
    assert (tally.missed, tally.late) == (0, 1)


@pytest.mark.parametrize(
    "other",
    [
        execution("on-time", NOON, late=False),
        execution("event", None),
        execution("before", GAP.after),
        execution("long-done", NOON - HOUR, at=GAP.after),
    ],
)
def test_what_has_nothing_to_do_with_the_outage_does_not_count(other: Execution) -> None:
    assert counted(other) == (0, 0)


def test_a_notice_names_both_numbers_and_is_one_for_each_outage() -> None:
    tally = Tally(GAP)
    assert tally.notice() is None
    tally.add([execution("a", NOON - HOUR), execution("b", NOON - HOUR, status="missed")])
    notice = tally.notice()
    assert notice is not None
    assert notice.type == "semel.outage"
    assert notice.payload["missed"] == notice.payload["late"] == 1
    assert notice.key == GAP.after.isoformat()


@pytest.mark.parametrize(("lying", "told"), [(2 * MINUTE, False), (3 * MINUTE, False), (4 * MINUTE, True)])
def test_only_what_lay_for_clearly_longer_than_a_tick_is_of_an_outage(lying: timedelta, told: bool) -> None:
    tally = Tally(GAP)
    tally.add([execution("a", NOON - lying)])
    assert tally.is_of_an_outage(MINUTE) is told
