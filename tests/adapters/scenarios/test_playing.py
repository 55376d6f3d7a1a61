"""The clock of a scenario stops where something happens, and at each stop things happen in the order written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from adapters.scenarios.playing import Played, play
from automations.authoring import AuthoredRule
from automations.scenarios.reading import read_scenario
from domain.errors import InvalidInput
from tests.databases import Databases

TASK = {"create_task": {"title": "Go"}}
AT_ONCE = {"id": "at-once", "when": "booking.changed", "do": [TASK]}
REMIND = {"id": "remind", "when": "booking.starting", "before": "2 hours", "do": [TASK]}
BOOKING = {"booking_id": "b1", "member_id": "m1", "resource_id": "r1"}
NOON_TO_ONE = {**BOOKING, "starts_at": "2026-05-12 12:00", "ends_at": "2026-05-12 13:00"}
CHANGED = {"booking.changed": {"booking_id": "b1", "attendees": 2}}


@pytest.fixture(scope="module")
def url(databases: Databases) -> Iterator[str]:
    """A database in which each scenario gets a schema of its own; embedded ones get a file instead."""
    with databases.fresh(blank=True) as fresh:
        yield fresh


def no_file(name: str) -> tuple[AuthoredRule, ...]:
    raise InvalidInput(name)


def played(url: str, **changes: Any) -> Played:
    """Play a morning of one booking, with changes."""
    data: dict[str, Any] = {
        "scenario": "a morning",
        "zone": "Europe/Berlin",
        "from": "2026-05-12 08:00",
        "to": "2026-05-12 12:00",
        "tick": "1 hour",
        "rules": [AT_ONCE, REMIND],
        "given": [{"booking.created": NOON_TO_ONE}],
        "expect": {},
    }
    return play(read_scenario(data | changes, no_file), url)


def differences(url: str, **changes: Any) -> list[str]:
    """Return what differs, each difference as one text."""
    return ["; ".join(each.lines()) for each in played(url, **changes).differences]


def step(at: str, **happens: Any) -> dict[str, Any]:
    return {"at": f"2026-05-12 {at}", **happens}


def ended(at: str, rule: str = "remind") -> dict[str, Any]:
    """Return the expectation of one run that ended at a time."""
    return {"runs": [{"rule": rule, "status": "done", "at": f"2026-05-12 {at}"}]}


def test_a_clock_rule_runs_at_the_first_tick_at_or_after_its_time(url: str) -> None:
    assert differences(url, expect=ended("10:00")) == []
    assert differences(url, tick="90 minutes", expect=ended("11:00")) == []


def test_the_last_instant_belongs_to_the_scenario(url: str) -> None:
    assert differences(url, to="2026-05-12 10:00", expect=ended("10:00")) == []
    assert differences(url, to="2026-05-12 09:59", expect={"runs": []}) == []


def test_an_event_is_followed_when_it_arrives(url: str) -> None:
    timeline = [step("09:17:30", **CHANGED), step("09:17:30", expect=ended("09:17:30", "at-once"))]
    assert differences(url, timeline=timeline) == []


def test_steps_of_one_instant_happen_in_the_order_written(url: str) -> None:
    timeline = [
        step("09:00", expect={"runs": []}),
        step("09:00", **CHANGED),
        step("09:00", expect=ended("09:00", "at-once")),
    ]
    assert differences(url, timeline=timeline) == []


def test_what_somebody_does_at_a_tick_is_seen_by_it(url: str) -> None:
    cancelled = step("10:00", **{"booking.cancelled": {"booking_id": "b1"}})
    assert differences(url, timeline=[cancelled], expect={"runs": []}) == []


def test_what_is_expected_at_a_tick_comes_after_it(url: str) -> None:
    assert differences(url, timeline=[step("10:00", expect=ended("10:00"))]) == []


def test_what_fell_due_before_the_beginning_is_past(url: str) -> None:
    assert differences(url, **{"from": "2026-05-12 10:00"}, expect={"runs": [], "will_run": []}) == []


def test_a_stopped_engine_follows_nothing_and_a_started_one_catches_up(url: str) -> None:
    timeline = [
        step("09:00", stop="engine"),
        step("09:30", **CHANGED),
        step("11:00", expect={"runs": []}),
        step("11:00", start="engine"),
    ]
    lines = [
        {"rule": "at-once", "at": "2026-05-12 11:00"},
        {"rule": "remind", "at": "2026-05-12 11:00", "late": True},
    ]
    assert differences(url, timeline=timeline, expect={"runs": lines}) == []


def test_a_clock_that_is_set_moves_what_follows_to_the_new_clock(url: str) -> None:
    timeline = [step("08:30", clock="2026-05-12 10:30"), step("10:45", **CHANGED)]
    lines = [{"rule": "remind", "at": "2026-05-12 11:00"}, {"rule": "at-once", "at": "2026-05-12 10:45"}]
    assert differences(url, timeline=timeline, expect={"runs": lines}) == []


def test_a_clock_that_is_set_back_repeats_nothing(url: str) -> None:
    timeline = [step("10:30", clock="2026-05-12 09:30"), step("09:45", **CHANGED)]
    lines = [{"rule": "remind", "at": "2026-05-12 10:00"}, {"rule": "at-once", "at": "2026-05-12 09:45"}]
    assert differences(url, timeline=timeline, expect={"runs": lines}) == []


def test_a_sweep_over_what_was_seen_finds_nothing_new(url: str) -> None:
    window = {"from": "2026-05-12 08:00", "to": "2026-05-12 11:00"}
    assert differences(url, timeline=[step("11:00", sweep=window)], expect=ended("10:00")) == []


def test_the_clock_stops_where_a_retry_is_due(url: str) -> None:
    timeline = [step("08:00", service={"tasks": "unavailable"}), step("10:00:05", service={"tasks": "ok"})]
    expect = {**ended("10:00:10"), "calls": {"tasks.create": {"effects": 1, "attempts": 2}}}
    assert differences(url, timeline=timeline, expect=expect) == []


@pytest.mark.parametrize(
    ("point", "at", "attempts"),
    [("before call", "11:00", 1), ("after call", "11:00", 2), ("before commit", "10:00", 1)],
)
def test_an_engine_that_dies_goes_on_after_its_lease_has_run_out(point: str, at: str, attempts: int, url: str) -> None:
    expect = {**ended(at), "calls": {"tasks.create": {"effects": 1, "attempts": attempts}}}
    assert differences(url, timeline=[step("08:30", crash=point)], expect=expect) == []


def test_rules_are_switched_changed_and_archived(url: str) -> None:
    timeline = [
        step("08:10", rule={"id": "at-once", "enabled": False}),
        step("08:20", **CHANGED),
        step("08:30", rule={"id": "at-once", "enabled": True}),
        step("08:40", **CHANGED),
        step("08:50", rule={"id": "remind", "before": "1 hour"}),
        step("09:10", rule={"archive": "at-once"}),
        step("09:20", **CHANGED),
        step("09:30", rule={**AT_ONCE, "id": "another"}),
    ]
    lines = [{"rule": "at-once", "at": "2026-05-12 08:40"}, {"rule": "remind", "at": "2026-05-12 11:00"}]
    assert differences(url, timeline=timeline, expect={"runs": lines}) == []


def test_the_usual_world_is_there_unless_the_scenario_says_otherwise(url: str) -> None:
    facts = ["space.time_zone is Europe/Berlin", "resource.door is d1", "member.name is Mia", "member.locale is de"]
    usual = {**AT_ONCE, "where": facts}
    assert differences(url, rules=[usual], timeline=[step("09:00", **CHANGED)], expect=ended("09:00", "at-once")) == []
    given = [{"member.registered": {"member_id": "m1", "name": "Ana"}}, {"booking.created": NOON_TO_ONE}]
    other = {**AT_ONCE, "where": ["member.name is Ana", "member.email is empty", "resource.door is d1"]}
    expect = ended("09:00", "at-once")
    assert differences(url, rules=[other], given=given, timeline=[step("09:00", **CHANGED)], expect=expect) == []


def test_a_conflict_changes_nothing_and_is_noted(url: str) -> None:
    again = {"booking.changed": {"booking_id": "b1", "attendees": 9}}
    timeline = [step("09:00", event_id="e1", **CHANGED), step("09:10", event_id="e1", **again)]
    result = played(url, rules=[AT_ONCE], timeline=timeline, expect=ended("09:00", "at-once"))
    assert result.differences == []
    assert [path for path, _ in result.notes] == [("timeline", 1, "booking.changed")]


def test_a_callback_about_a_message_that_was_never_sent_is_noted_and_fails_nothing(url: str) -> None:
    callback = {"channel": "email", "of": 1, "event": "bounced"}
    result = played(url, timeline=[step("09:00", callback=callback)])
    assert result.differences == []
    assert result.notes == [(("timeline", 0, "callback"), "refused: no message 1 was sent on email")]


def test_a_preference_counts_from_its_step_on(url: str) -> None:
    rule = {"id": "tell", "when": "booking.changed", "do": [{"notify": {"type": "news"}}]}
    off = {"member": "m1", "channel": "email", "enabled": False}
    timeline = [step("08:10", **CHANGED), step("09:00", preference=off), step("09:10", **CHANGED)]
    expect = {"deliveries": [{"status": "sent"}, {"status": "skipped", "reason": "preference"}], "messages": 1}
    assert differences(url, rules=[rule], timeline=timeline, expect=expect) == []


def test_reminders_are_sent_by_the_ready_rule_unless_the_scenario_has_one(url: str) -> None:
    reminder = {"reminder_id": "r", "member_id": "m1", "about": "Ana", "at": "09:00", "due_on": "2026-05-12"}
    given = [{"reminder.scheduled": {**reminder, "space_id": "mitte"}}]
    ready = {"messages": [{"to": "member/m1", "at": "2026-05-12 09:00", "text_contains": "Ana"}], "counts": {"done": 1}}
    assert differences(url, rules=[], given=given, expect=ready) == []
    own = {"id": "mine", "when": "reminder.due", "do": [TASK]}
    expect = {**ended("09:00", "mine"), "messages": 0}
    assert differences(url, rules=[own], given=given, expect=expect) == []


@pytest.mark.parametrize(
    ("fault", "messages", "deliveries"),
    [
        ("unavailable", 1, {"sent": 1}),
        ("refused", 0, {"failed": 1}),
        ("times out", 0, {"unknown": 1}),
        ("accepts and times out", 1, {"unknown": 1}),
    ],
)
def test_a_channel_fails_as_the_scenario_says(fault: str, messages: int, deliveries: dict[str, int], url: str) -> None:
    rule = {"id": "tell", "when": "booking.changed", "do": [{"notify": {"type": "news"}}]}
    timeline = [
        step("08:10", service={"email": fault}),
        step("08:20", **CHANGED),
        step("08:20:30", service={"email": "ok"}),
    ]
    expect = {"messages": messages, "deliveries": deliveries, "counts": {"done": 1}}
    assert differences(url, rules=[rule], timeline=timeline, expect=expect) == []


def test_no_call_of_a_service_means_none_of_those_that_ask_for_messages_either(url: str) -> None:
    tell = {"id": "tell", "when": "booking.changed", "do": [{"notify": {"type": "news"}}]}
    none = {"calls": {"none": True}}
    assert differences(url, rules=[tell], timeline=[step("09:00", **CHANGED)], expect=none) != []
    assert differences(url, rules=[tell], expect=none) == []
