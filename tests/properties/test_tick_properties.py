"""Whatever ticks there are, and whoever makes them, they come to the same as one tick at each minute."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.database import due_moments, tick_pages
from adapters.database.ticking import Ticker
from domain.moment_ranges import Window
from tests.databases import PostgresDatabases
from tests.operators import Event, Operator, operator_on, rule, scene

BEGIN = datetime(2026, 3, 28, 22, 0, tzinfo=UTC)
"""In the night in which the clocks of Berlin are put forward."""

MINUTES = 300
MINUTE = timedelta(minutes=1)
IN_MEMORY = "sqlite:///:memory:"

RULES = (
    rule("remind", "booking.starting", before="2 hours"),
    rule("door", "booking.starting", before="10 minutes", once="moment", give_up_after="5 minutes"),
    rule("day", "booking.starting", "booking.attendees at least 4", before="1 day"),
    rule("nine", "booking.starting", before="0 days at 00:30", when_late="skip"),
    rule("over", "booking.ending", before="15 minutes"),
    rule("clean", "booking.ended", "resource.kind is meeting_room", after="30 minutes", give_up_after="20 minutes"),
    rule("night", "booking.ended", after="1 day at 02:30"),
    rule("due", "invoice.due", before="1 day", once="entity"),
    rule("overdue", "invoice.overdue", "invoice.outstanding above 50 EUR", after="0 days"),
    rule("renew", "subscription.expiring", before="1 month at 01:15"),
)

PLACES = (
    ("space.opened", {"space_id": "york", "name": "Y", "time_zone": "America/New_York", "currency": "USD"}),
    ("resource.added", {"resource_id": "r2", "space_id": "york", "kind": "desk", "name": "D"}),
)

Told = tuple[str, dict[str, Any]]
"""An event's type and data."""

Runs = dict[tuple[Any, ...], str]
"""What became of each execution, by what it is for."""


# --- histories ---


def within(first: int, last: int) -> st.SearchStrategy[datetime]:
    """Draw instants by whole quarters of an hour, counted from the beginning."""
    return st.integers(first * 4, last * 4).map(lambda quarters: BEGIN + timedelta(minutes=15 * quarters))


def days(first: int, last: int) -> st.SearchStrategy[str]:
    return st.integers(first, last).map(lambda days: (BEGIN + timedelta(days=days)).date().isoformat())


@st.composite
def bookings(draw: st.DrawFn, number: int) -> Told:
    starts = draw(st.one_of(within(-3, 10), within(22, 30)))
    span = {"starts_at": starts, "ends_at": starts + draw(st.sampled_from((MINUTE * 45, MINUTE * 90, MINUTE * 180)))}
    return "booking.created", {
        "booking_id": f"b{number}",
        "member_id": "m1",
        "resource_id": draw(st.sampled_from(("r1", "r2"))),
        "status": draw(st.sampled_from(("confirmed", "confirmed", "pending"))),
        "attendees": draw(st.integers(1, 8)),
        **{name: instant.isoformat() for name, instant in span.items()},
    }


def invoices(number: int) -> st.SearchStrategy[Told]:
    def told(due_on: str, total: int) -> Told:
        names = {"invoice_id": f"i{number}", "space_id": "mitte", "member_id": "m1"}
        return "invoice.issued", {**names, "total": f"{total} EUR", "due_on": due_on}

    return st.builds(told, days(-1, 2), st.integers(20, 90))


def subscriptions(number: int) -> st.SearchStrategy[Told]:
    def told(ends_on: str) -> Told:
        names = {"subscription_id": f"u{number}", "space_id": "mitte", "member_id": "m1", "plan": "flex"}
        return "subscription.started", {**names, "starts_on": "2026-01-01", "ends_on": ends_on}

    return st.builds(told, days(29, 33))


beginnings = st.tuples(
    *(bookings(number) for number in range(4)), *(invoices(number) for number in range(2)), subscriptions(0)
).flatmap(lambda all_: st.lists(st.sampled_from(all_), unique_by=lambda told: str(told[1])))


@st.composite
def changes(draw: st.DrawFn) -> Told:
    """Draw something that changes what is due, or whether it is wanted."""
    booking = {"booking_id": draw(st.sampled_from(("b0", "b1", "b2", "b3")))}
    starts = draw(within(-2, 9))
    moved = {"starts_at": starts.isoformat(), "ends_at": (starts + MINUTE * 60).isoformat()}
    invoice = {"invoice_id": draw(st.sampled_from(("i0", "i1")))}
    told: tuple[Told, ...] = (
        ("booking.changed", {**booking, **moved}),
        ("booking.changed", {**booking, "attendees": draw(st.integers(1, 8))}),
        ("booking.changed", {**booking, "status": "confirmed"}),
        ("booking.cancelled", booking),
        ("booking.no_show", booking),
        ("booking.checked_out", booking),
        ("resource.changed", {"resource_id": "r2", "kind": draw(st.sampled_from(("desk", "meeting_room")))}),
        ("space.changed", {"space_id": "york", "time_zone": draw(st.sampled_from(ZONES))}),
        ("invoice.changed", {**invoice, "total": f"{draw(st.integers(20, 90))} EUR"}),
        ("invoice.changed", {**invoice, "due_on": draw(days(-1, 1))}),
        ("payment.received", {**invoice, "payment_id": f"p{draw(st.integers(0, 9))}", "amount": "30 EUR"}),
    )
    return draw(st.sampled_from(told))


ZONES = ("America/New_York", "America/Los_Angeles", "Europe/Lisbon", "Asia/Kathmandu")


# --- engines ---


@dataclass(slots=True)
class Engines:
    """Two engines on one operator; either may be killed, and is there again at once, without its memory."""

    operator: Operator
    tickers: list[Ticker] = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.tickers = [self.operator.app.worker()._ticker for _ in range(2)]

    def tick(self, which: int) -> None:
        list(self.tickers[which].tick())

    def tick_together(self) -> None:
        """Let both look at the same, page by page in turn."""
        list(itertools.zip_longest(*(ticker.tick() for ticker in self.tickers)))

    def die_in_tick(self, pages: int) -> None:
        """Let one look at some pages, and die."""
        looking = self.tickers[0].tick()
        list(itertools.islice(looking, pages))
        looking.close()  # type: ignore[attr-defined]
        self.restart()

    def sweep(self, hours: int) -> None:
        now = self.operator.clock.now()
        list(self.tickers[0].sweep(Window(now - timedelta(hours=hours), now)))

    def runs(self) -> Runs:
        self.operator.follow()
        return {
            (run["rule"], run["entity"], run["event_date"], run["due_at"]): run["status"]
            for run in self.operator.runs()
        }


Act = Callable[[Engines], None]

one = st.integers(0, 1)
full_ticks = st.one_of(
    one.map(lambda which: lambda engines: engines.tick(which)),
    st.just(Engines.tick_together),
)
disturbances: st.SearchStrategy[Act] = st.one_of(
    full_ticks,
    st.just(Engines.restart),
    st.integers(0, 3).map(lambda pages: lambda engines: engines.die_in_tick(pages)),
    st.integers(0, 40).map(lambda hours: lambda engines: engines.sweep(hours)),
)


@contextmanager
def engines_on(url: str) -> Iterator[Engines]:
    """Lend engines on a fresh operator whose rules are enabled; pages are small, so that there are many."""
    with pytest.MonkeyPatch.context() as patch, operator_on(url, at=BEGIN - timedelta(days=2)) as operator:
        patch.setattr(due_moments, "PAGE", 2)
        patch.setattr(due_moments, "READ_AHEAD", 4)
        patch.setattr(tick_pages, "PAGE", 2)
        operator.record(*scene())
        record(operator, PLACES)
        operator.save(*RULES)
        yield Engines(operator)


def record(operator: Operator, told: Sequence[Told]) -> None:
    at = operator.clock.now()
    if told:
        operator.record(*(event_of(kind, data, at) for kind, data in told))


_numbers = itertools.count(1)


def event_of(event_type: str, data: Mapping[str, Any], at: datetime) -> Event:
    named = {"id": f"t{next(_numbers):08d}", "source": "told", "type": event_type, "time": at.isoformat()}
    return {**named, "data": dict(data)}


# --- what is told before ---


def minute_by_minute(url: str, told: Sequence[Told]) -> Runs:
    with engines_on(url) as engines:
        record(engines.operator, told)
        for minute in range(MINUTES + 1):
            engines.operator.clock.set(BEGIN + minute * MINUTE)
            engines.tick(0)
        return engines.runs()


def at_any_times(url: str, told: Sequence[Told], acts: Sequence[tuple[float, Act]]) -> Runs:
    with engines_on(url) as engines:
        record(engines.operator, told)
        engines.operator.clock.set(BEGIN)
        engines.tick(0)
        for minutes, act in sorted(acts, key=lambda act: act[0]):
            engines.operator.clock.set(BEGIN + minutes * MINUTE)
            act(engines)
        engines.operator.clock.set(BEGIN + MINUTES * MINUTE)
        engines.tick(1)
        found = engines.runs()
        for hours in (1, 48):
            engines.sweep(hours)
        assert engines.runs() == found
        return found


times = st.floats(0, MINUTES, allow_nan=False).map(lambda minutes: round(minutes, 3))
schedules = st.lists(st.tuples(times, disturbances), max_size=8)


def same_but_for_what_came_too_late(expected: Runs, found: Runs) -> None:
    assert found.keys() == expected.keys()
    for run, status in expected.items():
        assert found[run] == status or (status == "running" and found[run] == "missed")


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(beginnings, schedules)
def test_any_ticks_come_to_the_same_as_one_at_each_minute(told: list[Told], acts: list[tuple[float, Act]]) -> None:
    expected = minute_by_minute(IN_MEMORY, told)
    same_but_for_what_came_too_late(expected, at_any_times(IN_MEMORY, told, acts))


@settings(max_examples=3, deadline=None)
@given(beginnings, schedules)
def test_any_ticks_come_to_the_same_on_postgresql(
    postgres_databases: PostgresDatabases, told: list[Told], acts: list[tuple[float, Act]]
) -> None:
    expected = minute_by_minute(IN_MEMORY, told)
    with postgres_databases.fresh() as url:
        same_but_for_what_came_too_late(expected, at_any_times(url, told, acts))


# --- what is told while time passes ---

STEPS = 30
STEP = MINUTES * MINUTE / STEPS

Story = dict[int, list[Told]]

stories: st.SearchStrategy[Story] = st.dictionaries(
    st.integers(0, STEPS), st.lists(changes(), min_size=1, max_size=3), max_size=8
)
turmoils = st.dictionaries(st.integers(0, STEPS), st.lists(disturbances, max_size=3), max_size=10)


def told_in_steps(url: str, told: Sequence[Told], story: Story, turmoil: Mapping[int, Sequence[Act]]) -> Runs:
    """Tick at each step, after whatever was told then; and do what is to be done besides, before or after."""
    with engines_on(url) as engines:
        record(engines.operator, told)
        for step in range(STEPS + 1):
            engines.operator.clock.set(BEGIN + step * STEP)
            record(engines.operator, story.get(step, ()))
            for act in turmoil.get(step, ()):
                act(engines)
            engines.tick(step % 2)
        return engines.runs()


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(beginnings, stories, turmoils)
def test_repeated_and_broken_ticks_change_nothing_while_facts_change(
    told: list[Told], story: Story, turmoil: dict[int, list[Act]]
) -> None:
    expected = told_in_steps(IN_MEMORY, told, story, {})
    assert told_in_steps(IN_MEMORY, told, story, turmoil) == expected
