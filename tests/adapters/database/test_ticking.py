"""Ticks: what falls due is found once, whoever looks, however often, and whatever kills it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from itertools import zip_longest
from typing import Any

import pytest
import sqlalchemy as sa

from adapters.database import due_moments, judging, meta, tick_pages, watermark
from adapters.database.claims import Claimed
from adapters.database.engine import reading
from adapters.database.judging import PageJudge
from adapters.database.unit_of_work import UnitOfWork, unit_of_work
from domain.moment_ranges import Window
from projections.moments import moments, second_looks
from tests.engines import Engine, local, told
from tests.operators import BOOKING, INVOICE, Event, Operator, event, operator_on, rule, scene

MINUTE = timedelta(minutes=1)
INSTANT = timedelta(microseconds=1)
BEGIN = local("2026-05-10 08:00")
DUE = local("2026-05-11 10:00")
"""When a reminder of the booking is due: a day before it starts."""


@pytest.fixture
def operator(database_url: str) -> Iterator[Operator]:
    with operator_on(database_url, at=BEGIN) as lent:
        lent.record(*scene())
        yield lent


def booking(identifier: str, starts_at: str, **more: Any) -> Event:
    starts = local(starts_at)
    span = {"starts_at": starts.isoformat(), "ends_at": (starts + timedelta(hours=2)).isoformat()}
    return event("booking.created", {**BOOKING, "booking_id": identifier, **span, **more})


def tell(operator: Operator, event_type: str, **data: Any) -> None:
    """Record that something has just happened."""
    operator.record(event(event_type, data, at=operator.clock.now()))


def change(operator: Operator, identifier: str, **fields: Any) -> None:
    tell(operator, "booking.changed", booking_id=identifier, **fields)


def remind(*where: str, **more: Any) -> Event:
    return rule("remind", "booking.starting", *where, **{"before": "24 hours", **more})


def at(operator: Operator, instant: datetime) -> Engine:
    """Tick at an instant with a new engine, and do what there is to do."""
    operator.clock.set(instant)
    engine = Engine(operator)
    engine.tick()
    return engine


def looked_until(operator: Operator) -> datetime:
    with reading(operator.app.engine) as connection:
        return watermark.stored(connection)


# --- the window ---


def test_the_window_is_open_at_its_beginning_and_closed_at_its_end(operator: Operator) -> None:
    operator.save(remind())
    operator.record(booking("b1", "2026-05-12 10:00"))
    at(operator, DUE - INSTANT)
    assert told(operator) == []
    at(operator, DUE)
    assert looked_until(operator) == DUE
    assert told(operator, "entity status due_at late") == [("booking/b1", "done", DUE, False)]
    at(operator, DUE + MINUTE)
    assert len(told(operator)) == 1


def test_what_was_due_right_at_the_watermark_is_not_looked_for_again(operator: Operator) -> None:
    operator.save(remind())
    operator.record(booking("b1", "2026-05-12 10:00"))
    at(operator, DUE)
    engine = at(operator, DUE + MINUTE)
    assert engine.worker.worked.kept == 0


def test_due_times_are_kept_in_order_across_offsets_and_zones(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due_moments, "PAGE", 2)
    operator.save(
        remind(),
        rule("day", "booking.starting", before="1 day"),
        rule("nine", "booking.starting", before="1 day at 09:00"),
        rule("overdue", "invoice.overdue", after="3 days at 09:30"),
        rule("ended", "booking.ended", after="30 minutes"),
    )
    tokyo = {"space_id": "tokyo", "name": "T", "time_zone": "Asia/Tokyo", "currency": "JPY"}
    room = {"resource_id": "r2", "space_id": "tokyo", "kind": "desk", "name": "D"}
    operator.record(event("space.opened", tokyo), event("resource.added", room))
    hours = [f"2026-05-12 {hour:02d}:15" for hour in range(8, 16)]
    operator.record(*(booking(f"b{n}", hour, resource_id=f"r{1 + n % 2}") for n, hour in enumerate(hours)))
    operator.record(event("invoice.issued", {**INVOICE, "due_on": "2026-05-08"}), booking("e", "2026-05-11 06:30"))
    at(operator, local("2026-05-11 20:00"))
    dues = [run["due_at"] for run in operator.runs()]
    assert len(dues) == 8 * 3 + 3
    assert dues == sorted(dues)


def test_a_page_may_end_in_the_middle_of_one_instant(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_moments, "PAGE", 3)
    monkeypatch.setattr(due_moments, "READ_AHEAD", 6)
    operator.save(remind(), rule("other", "booking.starting", before="1440 minutes"))
    operator.record(*(booking(f"b{n:02d}", "2026-05-12 10:00") for n in range(10)))
    at(operator, DUE)
    assert len(told(operator)) == len(set(told(operator))) == 20


# --- a tick with nothing to do ---


def statements(operator: Operator, action: Callable[[], object]) -> list[str]:
    """Return the statements that are executed while something is done."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    sa.event.listen(operator.app.engine, "before_cursor_execute", note)
    try:
        action()
    finally:
        sa.event.remove(operator.app.engine, "before_cursor_execute", note)
    return seen


def test_an_idle_tick_asks_once_and_writes_nothing(operator: Operator) -> None:
    operator.save(
        remind(), rule("day", "booking.starting", before="1 day"), rule("month", "booking.starting", before="1 month")
    )
    operator.record(booking("b1", "2026-05-12 10:00"))
    engine = at(operator, BEGIN)
    engine.tick()
    before = looked_until(operator)
    for _ in range(5):
        operator.clock.advance(MINUTE)
        assert len(statements(operator, lambda: list(engine.worker._ticker.tick()))) == 1
    assert looked_until(operator) == before


def test_the_watermark_lags_behind_ten_ticks_at_most(operator: Operator) -> None:
    operator.save(remind())
    engine = at(operator, BEGIN)
    for _ in range(25):
        operator.clock.advance(MINUTE)
        engine.tick()
        assert operator.clock.now() - looked_until(operator) < 10 * MINUTE


def test_what_is_recorded_between_two_idle_ticks_is_not_overlooked(operator: Operator) -> None:
    operator.save(remind())
    engine = at(operator, DUE - 10 * MINUTE)
    operator.clock.set(DUE - 9 * MINUTE)
    engine.tick()
    operator.record(booking("b1", "2026-05-12 10:00"))
    for minutes in (8, 4, 0):
        operator.clock.set(DUE - minutes * MINUTE)
        engine.tick()
    assert told(operator, "status due_at at") == [("done", DUE, DUE)]


# --- killed and done again ---


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours may catch it."""


def ten_due(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_moments, "PAGE", 3)
    monkeypatch.setattr(tick_pages, "PAGE", 3)
    operator.save(remind())
    operator.record(*(booking(f"b{n}", "2026-05-12 10:00") for n in range(10)))
    at(operator, DUE - MINUTE)
    operator.clock.set(DUE)


def dies_at(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, call: int) -> Any:
    """Patch a method so that whoever calls it for the n-th time is killed there."""
    context, original, calls = monkeypatch.context(), getattr(owner, name), 0

    def method(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise Killed
        return original(*arguments, **named)

    patched = context.__enter__()
    patched.setattr(owner, name, method)
    return context


@pytest.mark.parametrize("call", [1, 2, 3, 4])
@pytest.mark.parametrize("point", ["claim", "_write"])
def test_a_tick_that_is_killed_at_any_page_is_done_again(
    point: str, call: int, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Delivery trial G8: the watermark stays where it was, and the next tick makes what is missing."""
    ten_due(operator, monkeypatch)
    before = looked_until(operator)
    context = dies_at(monkeypatch, PageJudge, point, call)
    with pytest.raises(Killed):
        Engine(operator).worker.tick()
    context.__exit__(None, None, None)
    assert looked_until(operator) == before
    at(operator, DUE + MINUTE)
    assert told(operator) == [("remind", f"booking/b{n}", "done") for n in range(10)]
    assert operator.topics().count("task.opened") == 10
    assert looked_until(operator) == DUE + MINUTE


def test_the_watermark_moves_in_the_transaction_of_the_last_page(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    ten_due(operator, monkeypatch)
    before = looked_until(operator)
    context = dies_at(monkeypatch, UnitOfWork, "flush", 8)  # each page flushes twice: 8 is the last before the commit
    with pytest.raises(Killed):
        list(Engine(operator).worker._ticker.tick())
    context.__exit__(None, None, None)
    operator.follow()
    assert len(operator.runs()) == 9
    assert looked_until(operator) == before


# --- several engines ---


def test_two_engines_at_once_claim_each_thing_once(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    ten_due(operator, monkeypatch)
    operator.follow()
    tickers = [operator.app.worker()._ticker for _ in range(2)]
    pages = zip_longest(*(ticker.tick() for ticker in tickers), fillvalue=Claimed())
    assert sum(len(page.running) for both in pages for page in both) == 10
    assert operator.topics().count("execution.started") == 10
    assert looked_until(operator) == DUE


def test_a_slow_engine_does_not_set_the_watermark_back(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    ten_due(operator, monkeypatch)
    operator.follow()
    slow = operator.app.worker()._ticker.tick()
    next(slow)
    at(operator, DUE + 5 * MINUTE)
    list(slow)
    assert looked_until(operator) == DUE + 5 * MINUTE
    assert operator.topics().count("execution.started") == 10


# --- the clock is set back ---


def test_a_clock_set_back_repeats_nothing_and_events_go_on(operator: Operator) -> None:
    operator.save(remind(), rule("welcome", "booking.created"))
    operator.record(booking("b1", "2026-05-12 10:00"))
    engine = at(operator, DUE + timedelta(hours=2))
    operator.clock.jump(DUE - timedelta(hours=1))
    operator.record(booking("b2", "2026-05-20 10:00"))
    engine.run_until("2026-05-11 12:30", timedelta(minutes=10))
    assert told(operator, "rule entity due_at") == [
        ("remind", "booking/b1", DUE),
        ("welcome", "booking/b1", None),
        ("welcome", "booking/b2", None),
    ]


@pytest.mark.parametrize("restarts", [False, True])
def test_what_is_made_while_the_clock_is_back_runs_when_it_is_due(restarts: bool, operator: Operator) -> None:
    operator.save(remind())
    engine = at(operator, DUE + timedelta(hours=2))
    operator.clock.jump(DUE - timedelta(hours=1))
    operator.record(booking("b2", "2026-05-12 10:00"))
    engine.tick()
    assert told(operator) == []
    engine = Engine(operator) if restarts else engine
    engine.run_until("2026-05-11 12:30", timedelta(minutes=10))
    assert told(operator, "entity due_at at") == [("booking/b2", DUE, DUE)]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_rule_enabled_while_the_clock_is_back_finds_what_falls_due(restarts: bool, operator: Operator) -> None:
    operator.record(booking("b1", "2026-05-12 10:00"))
    operator.save(rule("other", "booking.ended", after="1 hour"))
    engine = at(operator, DUE + timedelta(hours=2))
    operator.clock.jump(DUE - timedelta(hours=1))
    operator.save(remind())
    engine = Engine(operator) if restarts else engine
    engine.run_until("2026-05-11 12:30", timedelta(minutes=10))
    assert told(operator, "entity due_at at") == [("booking/b1", DUE, DUE)]


def test_a_rule_whose_transaction_was_slower_than_a_tick_misses_nothing(operator: Operator) -> None:
    operator.record(booking("b1", "2026-05-12 10:00"))
    operator.save(rule("other", "booking.ended", after="1 hour"))
    engine = at(operator, DUE + MINUTE)
    operator.clock.jump(DUE - MINUTE)
    operator.save(remind())  # decided at this instant, and committed after the tick of two minutes later
    operator.clock.jump(DUE + 2 * MINUTE)
    engine.tick()
    assert told(operator, "entity due_at") == [("booking/b1", DUE)]
    engine.tick()
    assert engine.worker.worked.kept == 0


# --- second looks ---


def test_a_booking_moved_inside_its_lead_time_runs_at_once(operator: Operator) -> None:
    operator.save(remind())
    operator.record(booking("b1", "2026-05-20 10:00"))
    at(operator, DUE)
    operator.clock.set(DUE + timedelta(hours=3))
    change(operator, "b1", starts_at=local("2026-05-12 09:00").isoformat())
    at(operator, DUE + timedelta(hours=4))
    assert told(operator, "event_date status late") == [(date(2026, 5, 12), "done", True)]


def test_known_too_late_is_skipped_where_the_rule_says_so(operator: Operator) -> None:
    operator.save(remind(when_late="skip"))
    operator.clock.set(DUE + INSTANT)
    operator.record(booking("late", "2026-05-12 10:00"))
    operator.record(booking("exact", local("2026-05-12 10:00").isoformat()[:10] + " 10:01"))
    operator.clock.set(DUE + MINUTE)
    operator.record(booking("just", "2026-05-12 10:01"))
    at(operator, DUE + 2 * MINUTE)
    assert told(operator, "entity status reason") == [
        ("booking/exact", "done", ""),
        ("booking/just", "done", ""),
        ("booking/late", "skipped", "the lead time was already past"),
    ]


@pytest.mark.parametrize(
    ("where", "news", "data"),
    [
        ("booking.attendees at least 5", "booking.changed", {"booking_id": "b1", "attendees": 9}),
        ("resource.kind is event_space", "resource.changed", {"resource_id": "r1", "kind": "event_space"}),
        ('member.tags contains "vip"', "member.changed", {"member_id": "m1", "tags": ["vip"]}),
        ("member.company is Acme", "member.changed", {"member_id": "m1", "company": "Acme"}),
        ("space.name is Nord", "space.changed", {"space_id": "mitte", "name": "Nord"}),
    ],
)
def test_a_condition_that_becomes_true_later_makes_a_candidate_again(
    where: str, news: str, data: Event, operator: Operator
) -> None:
    operator.save(remind(where))
    operator.record(booking("b1", "2026-05-12 10:00"))
    engine = at(operator, DUE)
    operator.clock.set(DUE + timedelta(hours=20))
    tell(operator, news, **data)
    engine.tick()
    assert told(operator, "entity status late") == [("booking/b1", "done", True)]


def test_a_condition_that_becomes_true_too_late_makes_nothing(operator: Operator) -> None:
    operator.save(remind("resource.kind is event_space"))
    operator.record(booking("b1", "2026-05-12 10:00"))
    engine = at(operator, DUE)
    operator.clock.set(local("2026-05-12 10:00") + INSTANT)
    engine.tick()
    tell(operator, "resource.changed", resource_id="r1", kind="event_space")
    change(operator, "b1", attendees=7)
    engine.tick()
    assert told(operator) == []
    assert operator.rows(second_looks) == []


def test_a_late_fee_lifts_the_amount_over_the_limit(operator: Operator) -> None:
    operator.save(rule("dunning", "invoice.overdue", "invoice.outstanding above 105 EUR", after="1 day"))
    operator.record(event("invoice.issued", {**INVOICE, "due_on": "2026-05-11"}))
    engine = at(operator, local("2026-05-13 00:00"))
    assert told(operator) == []
    operator.clock.set(local("2026-05-20 00:00"))
    tell(operator, "invoice.changed", invoice_id="i1", total="110 EUR")
    engine.tick()
    assert told(operator, "entity status due_at") == [("invoice/i1", "done", local("2026-05-13 00:00"))]


def test_what_a_recheck_skipped_by_its_conditions_is_looked_at_again(operator: Operator) -> None:
    """The room is corrected away and back between the claim and the run: nothing was executed, so nothing blocks."""
    operator.save(remind("resource.kind is meeting_room"))
    operator.record(booking("b1", "2026-05-12 10:00"))
    at(operator, DUE - MINUTE)
    operator.clock.set(DUE)
    engine = Engine(operator)
    operator.follow()
    (page,) = engine.worker._ticker.tick()
    tell(operator, "resource.changed", resource_id="r1", kind="desk")
    engine.worker._run_claimed(page)
    operator.follow()
    assert told(operator) == [("remind", "booking/b1", "skipped")]
    for kind, status in (("desk", "skipped"), ("meeting_room", "done")):
        operator.clock.advance(10 * MINUTE)
        tell(operator, "resource.changed", resource_id="r1", kind=kind)
        engine.tick()
        engine.tick()
        assert told(operator) == [("remind", "booking/b1", status)]


# --- facts that change while a page is judged ---


def interfering(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Do something once, after a page was judged and before what came of it is written."""
    todo = [action]

    def interfered(*arguments: Any) -> Any:
        if todo:
            todo.pop()()
        return unit_of_work(*arguments)

    monkeypatch.setattr(judging, "unit_of_work", interfered)


def follow_everything(operator: Operator) -> None:
    operator.app.worker().work_until_idle()


def test_a_change_that_nobody_could_see_coming_is_not_lost(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A room is corrected, and that is followed, after a candidate failed by it and before it is watched."""
    operator.save(remind("resource.kind is event_space"))
    operator.record(booking("b1", "2026-05-12 10:00"))
    at(operator, DUE - MINUTE)

    def correct() -> None:
        tell(operator, "resource.changed", resource_id="r1", kind="event_space")
        follow_everything(operator)

    operator.clock.set(DUE)
    interfering(monkeypatch, correct)
    engine = Engine(operator)
    engine.tick()
    engine.tick()
    assert told(operator) == [("remind", "booking/b1", "done")]


def test_a_second_change_is_not_taken_off_the_list_with_the_first(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.save(remind("booking.attendees at least 5"))
    operator.record(booking("b1", "2026-05-12 10:00"))
    engine = at(operator, DUE)
    change(operator, "b1", attendees=3)

    def grow() -> None:
        change(operator, "b1", attendees=9)
        follow_everything(operator)

    operator.clock.advance(MINUTE)
    engine.worker.work_until_idle()
    interfering(monkeypatch, grow)
    engine.tick()
    engine.tick()
    assert told(operator) == [("remind", "booking/b1", "done")]


# --- rules that change ---


def test_the_past_is_left_alone_whatever_else_changes(operator: Operator) -> None:
    operator.record(booking("b1", "2026-05-10 07:00"), event("invoice.issued", {**INVOICE, "due_on": "2026-05-05"}))
    operator.clock.advance(MINUTE)
    operator.save(
        rule("feedback", "booking.ended", after="5 minutes", give_up_after="30 days"),
        rule("dunning", "invoice.overdue", after="1 day"),
        remind(give_up_after="30 days"),
    )
    engine = at(operator, local("2026-05-10 09:30"))
    assert told(operator) == [("feedback", "booking/b1", "done")]  # it ends at 09:00, which lies ahead
    change(operator, "b1", attendees=8)
    tell(operator, "invoice.changed", invoice_id="i1", total="120 EUR")
    tell(operator, "member.changed", member_id="m1", company="Acme")
    tell(operator, "space.changed", space_id="mitte", time_zone="Europe/Lisbon")
    operator.clock.advance(MINUTE)
    engine.tick()
    assert told(operator) == [("feedback", "booking/b1", "done")]


def test_the_past_runs_if_it_moves(operator: Operator) -> None:
    operator.record(event("invoice.issued", {**INVOICE, "due_on": "2026-05-05"}))
    operator.clock.advance(MINUTE)
    operator.save(rule("dunning", "invoice.overdue", after="1 day"))
    engine = at(operator, local("2026-05-10 09:30"))
    tell(operator, "invoice.changed", invoice_id="i1", due_on="2026-05-06")
    engine.tick()
    assert told(operator, "entity status late") == [("invoice/i1", "done", True)]


def test_what_was_missed_returns_to_normal_if_it_moves_ahead(operator: Operator) -> None:
    operator.save(remind())
    operator.record(booking("b1", "2026-05-12 10:00"))
    at(operator, DUE - MINUTE)
    engine = at(operator, local("2026-05-12 10:30"))
    assert told(operator) == [("remind", "booking/b1", "missed")]
    later = {"starts_at": "2026-05-12T15:00:00+02:00", "ends_at": "2026-05-12T17:00:00+02:00"}
    change(operator, "b1", **later)
    engine.tick()
    assert told(operator, "event_date status late") == [(date(2026, 5, 12), "done", True)]


def test_a_rule_that_acts_once_for_something_else_now_rewinds_nothing(operator: Operator) -> None:
    operator.save(remind())
    operator.record(booking("b1", "2026-05-12 10:00"))
    engine = at(operator, DUE)
    for once in ("moment", "entity", "date"):
        operator.save(remind(once=once))
        operator.clock.advance(MINUTE)
        change(operator, "b1", attendees=int(operator.clock.now().minute))
        engine.tick()
        list(engine.worker._ticker.sweep(Window(BEGIN, operator.clock.now())))
    assert len(told(operator)) == 1


def test_a_moment_runs_again_within_its_day_only_where_the_rule_asks_for_it(operator: Operator) -> None:
    operator.save(remind(), rule("door", "booking.starting", before="1 hour", once="moment"))
    operator.record(booking("b1", "2026-05-12 10:00"))
    engine = at(operator, DUE)
    at(operator, local("2026-05-12 09:00"))
    later = {"starts_at": "2026-05-12T15:00:00+02:00", "ends_at": "2026-05-12T17:00:00+02:00"}
    change(operator, "b1", **later)
    engine.run_until("2026-05-12 15:00")
    assert told(operator, "rule due_at") == [
        ("door", local("2026-05-12 09:00")),
        ("door", local("2026-05-12 14:00")),
        ("remind", DUE),
    ]


# --- zones ---


def test_a_corrected_zone_moves_what_lies_ahead_and_repeats_nothing(operator: Operator) -> None:
    operator.save(
        rule("door", "booking.starting", before="15 minutes", once="moment"),
        rule("night", "booking.starting", before="1 day at 23:30", once="moment"),
    )
    operator.record(booking("b1", "2026-05-12 00:15"))
    engine = at(operator, local("2026-05-11 23:30"))
    assert told(operator, "rule due_at") == [("night", local("2026-05-11 23:30"))]
    operator.clock.advance(10 * MINUTE)
    tell(operator, "space.changed", space_id="mitte", time_zone="Europe/Lisbon")  # 00:15 there is 01:15 in Berlin
    engine.run_until("2026-05-12 02:00", timedelta(minutes=15))
    assert told(operator, "rule event_date due_at status") == [
        ("door", date(2026, 5, 12), local("2026-05-12 01:00"), "done"),
        ("night", date(2026, 5, 12), local("2026-05-11 23:30"), "done"),
    ]


def test_a_zone_corrected_while_its_day_passes_loses_nothing(operator: Operator) -> None:
    """Between the old start and the new one the booking has not begun, whoever asks then."""
    operator.save(rule("door", "booking.starting", before="15 minutes"))
    operator.record(booking("b1", "2026-05-12 10:00"))
    engine = at(operator, local("2026-05-11 08:00"))
    tell(operator, "space.changed", space_id="mitte", time_zone="Europe/Lisbon")
    engine.run_until("2026-05-12 10:20", timedelta(minutes=20))
    assert told(operator) == []
    engine.run_until("2026-05-12 11:30", timedelta(minutes=5))
    assert told(operator, "due_at at status") == [(local("2026-05-12 10:45"), local("2026-05-12 10:45"), "done")]


# --- sweeps ---


def test_a_sweep_finds_nothing_new(operator: Operator) -> None:
    operator.save(remind(), rule("overdue", "invoice.overdue", after="3 days at 09:00"))
    operator.record(booking("b1", "2026-05-12 10:00"), event("invoice.issued", {**INVOICE, "due_on": "2026-05-08"}))
    engine = Engine(operator).run_until("2026-05-12 12:00", timedelta(hours=1))
    before = operator.topics()
    engine.worker.sweep(Window(BEGIN, operator.clock.now()))
    assert operator.topics() == before
    assert len(operator.runs()) == 2


def test_a_sweep_goes_by_the_facts_and_not_by_the_index(operator: Operator) -> None:
    operator.save(remind())
    operator.record(booking("b1", "2026-05-12 10:00"))
    engine = at(operator, DUE - MINUTE)
    with operator.app.engine.begin() as connection:
        connection.execution_options(semel_access="writing")
        connection.execute(sa.delete(moments))
    at(operator, DUE + MINUTE)
    assert told(operator) == []
    engine.worker.sweep(Window(DUE - MINUTE, DUE + MINUTE))
    operator.follow()
    assert told(operator) == [("remind", "booking/b1", "done")]


# --- what is broken ---


def test_a_booking_that_cannot_be_read_stops_no_other(operator: Operator) -> None:
    operator.save(remind())
    operator.record(*(booking(f"b{n}", "2026-05-12 10:00") for n in range(3)))
    at(operator, DUE - MINUTE)
    broken = "UPDATE events SET state = :state WHERE stream = 'booking/b1'"
    with operator.app.engine.begin() as connection:
        connection.execution_options(semel_access="writing")
        connection.execute(sa.text(broken), {"state": b"{}"})
    operator.clock.set(DUE)
    Engine(operator).tick()
    assert [entity for _, entity, status in told(operator) if status == "done"] == ["booking/b0", "booking/b2"]
    assert looked_until(operator) == DUE


def test_without_a_watermark_ticks_begin_where_the_database_was_made(operator: Operator) -> None:
    with reading(operator.app.engine) as connection:
        assert meta.remembered(connection, watermark.WATERMARK) is None
        assert watermark.stored(connection) == BEGIN
