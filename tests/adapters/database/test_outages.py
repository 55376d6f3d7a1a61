"""After an outage: what is still useful runs late, the rest is missed, and staff hear of it once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import zip_longest

import pytest

from adapters.database.claims import Claimed
from adapters.database.ticking import Ticker
from adapters.database.unit_of_work import UnitOfWork
from tests.engines import Engine, local, notices, told
from tests.operators import BOOKING, INVOICE, Event, Operator, event, operator_on, rule, scene


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url, at=local("2026-05-10 08:00")) as lent:
        lent.record(*scene())
        yield lent


def booking(identifier: str, starts_at: str, ends_at: str, attendees: int = 4) -> Event:
    times = {"starts_at": local(starts_at).isoformat(), "ends_at": local(ends_at).isoformat()}
    return event("booking.created", {**BOOKING, "booking_id": identifier, "attendees": attendees, **times})


def save_the_rules_of_trial_41(operator: Operator) -> None:
    grant = {"door": "{{ resource.door }}", "from": "booking.starts_at", "until": "booking.ends_at"}
    operator.save(
        rule("remind", "booking.starting", "booking.attendees is 4", before="2 hours"),
        rule("overdue", "invoice.overdue", after="1 day at 10:00"),
        rule("door", "booking.starting", "booking.attendees is 9", before="5 minutes", do=[{"grant_access": grant}]),
        rule("day-before", "booking.starting", "booking.attendees is 2", before="24 hours"),
    )


def record_the_items_of_trial_41(operator: Operator) -> None:
    operator.record(
        booking("a", "2026-05-12 10:00", "2026-05-12 11:00"),
        booking("b", "2026-05-12 15:00", "2026-05-12 16:00"),
        event("invoice.issued", {**INVOICE, "invoice_id": "c", "due_on": "2026-05-10"}),
        booking("d", "2026-05-12 12:00", "2026-05-12 14:00", attendees=9),
        booking("e", "2026-05-13 11:00", "2026-05-13 12:00", attendees=2),
    )


def test_trial_41_the_useful_is_done_late_the_pointless_is_missed_and_staff_hear_once(operator: Operator) -> None:
    save_the_rules_of_trial_41(operator)
    record_the_items_of_trial_41(operator)
    Engine(operator).run_until("2026-05-11 09:50", timedelta(hours=3))
    operator.clock.set(local("2026-05-12 12:00"))
    engine = Engine(operator)
    engine.tick()
    noon = local("2026-05-12 12:00")
    assert told(operator, "rule entity status late at") == [
        ("day-before", "booking/e", "done", True, noon),
        ("door", "booking/d", "done", True, noon),
        ("overdue", "invoice/c", "done", True, noon),
        ("remind", "booking/a", "missed", True, noon),
    ]
    engine.run_until("2026-05-12 13:00", timedelta(minutes=20))
    assert ("remind", "booking/b", "done", False, local("2026-05-12 13:00")) in told(
        operator, "rule entity status late at"
    )
    ((kind, payload),) = notices(operator)
    assert (kind, payload["missed"], payload["late"]) == ("semel.outage", 1, 3)


@pytest.mark.parametrize(("seconds", "status"), [(0, "done"), (0.001, "missed")])
def test_trial_41_exactly_at_the_limit_runs_and_a_millisecond_later_does_not(
    seconds: float, status: str, operator: Operator
) -> None:
    operator.save(rule("remind", "booking.starting", before="2 hours"))
    operator.record(booking("a", "2026-05-12 10:00", "2026-05-12 11:00"))
    Engine(operator).tick()
    operator.clock.set(local("2026-05-12 10:00") + timedelta(seconds=seconds))
    Engine(operator).tick()
    assert told(operator) == [("remind", "booking/a", status)]


def test_a_restart_without_an_outage_says_nothing(operator: Operator) -> None:
    operator.save(rule("remind", "booking.starting", before="2 hours"))
    operator.record(booking("a", "2026-05-12 10:00", "2026-05-12 11:00"))
    for end in ("2026-05-12 07:58", "2026-05-12 08:01", "2026-05-12 08:30"):
        Engine(operator).run_until(end, timedelta(minutes=20))
    assert told(operator) == [("remind", "booking/a", "done")]
    assert notices(operator) == []


def test_what_runs_late_in_a_process_that_was_there_is_no_outage(operator: Operator) -> None:
    operator.save(rule("remind", "booking.starting", before="2 hours"))
    operator.record(booking("a", "2026-05-12 10:00", "2026-05-12 11:00"))
    Engine(operator).run_until("2026-05-12 09:00", timedelta(minutes=95))
    assert told(operator, "entity status late") == [("booking/a", "done", True)]
    assert notices(operator) == []


def test_a_machine_that_slept_tells_what_it_has_slept_through(operator: Operator) -> None:
    operator.save(rule("remind", "booking.starting", before="2 hours"))
    operator.record(booking("a", "2026-05-12 10:00", "2026-05-12 11:00"))
    engine = Engine(operator).run_until("2026-05-12 07:00", timedelta(minutes=60))
    operator.clock.jump(local("2026-05-12 09:00"))
    engine.tick()
    assert told(operator, "entity status late") == [("booking/a", "done", True)]
    assert [payload["late"] for _, payload in notices(operator)] == [1]


def test_a_first_tick_that_was_killed_is_told_of_as_if_it_had_not_been(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_the_rules_of_trial_41(operator)
    record_the_items_of_trial_41(operator)
    Engine(operator).run_until("2026-05-11 09:50", timedelta(hours=3))
    operator.clock.set(local("2026-05-12 12:00"))
    with monkeypatch.context() as patched:
        patched.setattr(Ticker, "_move_watermark", killed)
        with pytest.raises(KeyboardInterrupt):
            Engine(operator).tick()
    assert notices(operator) == []
    Engine(operator).tick()
    Engine(operator).tick()
    ((_, payload),) = notices(operator)
    assert (payload["missed"], payload["late"]) == (1, 3)


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_two_engines_that_come_back_together_tell_once(operator: Operator) -> None:
    save_the_rules_of_trial_41(operator)
    record_the_items_of_trial_41(operator)
    Engine(operator).run_until("2026-05-11 09:50", timedelta(hours=3))
    operator.clock.set(local("2026-05-12 12:00"))
    first, second = operator.app.worker()._ticker, operator.app.worker()._ticker
    operator.follow()
    pages = list(zip_longest(first.tick(), second.tick(), fillvalue=Claimed()))
    assert [sum(len(page.running) for page in of) for of in zip(*pages, strict=True)] == [3, 0]
    ((_, payload),) = notices(operator)
    assert (payload["missed"], payload["late"]) == (1, 3)


def test_the_notice_is_recorded_with_the_watermark_or_not_at_all(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.save(rule("remind", "booking.starting", before="2 hours"))
    operator.record(booking("a", "2026-05-12 10:00", "2026-05-12 11:00"))
    Engine(operator).tick()
    operator.clock.set(local("2026-05-12 09:00"))
    with monkeypatch.context() as patched:
        patched.setattr(UnitOfWork, "committed", killed)
        patched.setattr("adapters.database.ticking.tell_staff", killed)
        with pytest.raises(KeyboardInterrupt):
            Engine(operator).tick()
    Engine(operator).tick()
    assert len(notices(operator)) == 1
