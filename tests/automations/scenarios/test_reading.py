"""A scenario file says what it means, or every mistake in it at once, each with its place."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from automations.authoring import AuthoredRule, read_rules
from automations.scenario import (
    ActOnRuns,
    ArchiveRule,
    ArmCrash,
    CallBack,
    Check,
    RecordEvent,
    SaveRule,
    SetClock,
    SetFaults,
    SetPreference,
    Step,
    Sweep,
    SwitchEngine,
    SwitchRule,
)
from automations.scenarios.expectations import Written
from automations.scenarios.reading import read_scenario
from tests.automations.scenarios.forms import BOOKING, FEE, REMIND, form, mistakes, read


def only_step(**step: Any) -> Step:
    """Return the one step of a timeline."""
    (timed,) = read(timeline=[{"at": "2026-05-11 09:00", **step}]).timeline
    return timed.step


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_bare_times_are_those_of_the_zone() -> None:
    scenario = read()
    assert (scenario.start, scenario.end) == (at("2026-05-09T22:00"), at("2026-05-20T10:00"))
    assert (scenario.name, scenario.zone, scenario.tick) == ("something happens", "Europe/Berlin", timedelta(minutes=5))


def test_a_tick_is_a_minute_where_nothing_is_said() -> None:
    assert read(tick=None).tick == timedelta(minutes=1)


def test_times_with_an_offset_and_seconds_are_read_too() -> None:
    scenario = read(**{"from": "2026-05-10T00:00:30Z", "to": "2026-05-10 03:00:15"})
    assert (scenario.start, scenario.end) == (at("2026-05-10T00:00:30"), at("2026-05-10T01:00:15"))


def test_a_time_in_the_gap_moves_on_and_a_doubled_one_is_the_first() -> None:
    scenario = read(**{"from": "2026-03-29 02:30", "to": "2026-10-25 02:30", "tick": "1 day"})
    assert (scenario.start, scenario.end) == (at("2026-03-29T01:30"), at("2026-10-25T00:30"))


def test_times_in_the_data_of_events_get_the_offset_of_the_zone_and_dates_stay_dates() -> None:
    invoice = {"invoice_id": "i1", "space_id": "mitte", "member_id": "m1", "total": "1 EUR", "due_on": "2026-06-01"}
    given = read(given=[{"booking.created": BOOKING}, {"invoice.issued": invoice}]).given
    assert given[0].data["starts_at"] == "2026-05-12T10:00:00+02:00"
    assert given[1].data["due_on"] == "2026-06-01"


def test_only_what_can_be_an_instant_becomes_one() -> None:
    text, extra = "2026-05-12 10:00", {"since": ["2026-12-24 18:00", "soon"]}
    reminder = {"reminder_id": "r", "member_id": "m1", "about": text, "at": "12:00", "due_on": "2026-08-08"}
    (event,) = read(given=[{"reminder.scheduled": reminder | extra}]).given
    assert event.data["about"] == text
    assert event.data["since"] == ["2026-12-24T18:00:00+01:00", "soon"]


def test_events_get_ascending_ids_in_the_order_of_the_file() -> None:
    changed = {"booking.changed": {"booking_id": "b1"}}
    scenario = read(
        given=[{"booking.created": BOOKING}],
        timeline=[{"at": "2026-05-11 09:00", **changed}, {"at": "2026-05-11 09:00", "event_id": "mine", **changed}],
    )
    ids = [event.id for event in scenario.given]
    ids += [timed.step.id for timed in scenario.timeline if isinstance(timed.step, RecordEvent)]
    assert ids == ["event-000001", "event-000002", "mine"]


def test_an_event_may_carry_its_id_its_time_and_its_source() -> None:
    step = only_step(
        event_id="e1", event_time="2026-05-11 08:00", source="door", **{"booking.checked_in": {"booking_id": "b1"}}
    )
    assert step == RecordEvent("booking.checked_in", "e1", {"booking_id": "b1"}, "door", at("2026-05-11T06:00"))


def test_events_of_types_that_nobody_knows_are_events_too() -> None:
    assert only_step(**{"coffee.machine.empty": None}) == RecordEvent("coffee.machine.empty", "event-000001", {})


def test_several_things_in_one_step_happen_in_the_order_written() -> None:
    step = {"at": "2026-05-11 09:00", "stop": "engine", "booking.cancelled": {"booking_id": "b1"}, "expect": {}}
    steps = [type(timed.step) for timed in read(timeline=[step]).timeline]
    assert steps == [SwitchEngine, RecordEvent, Check]


@pytest.mark.parametrize(
    ("written", "step"),
    [
        ({"stop": "engine"}, SwitchEngine(False)),
        ({"start": "engine"}, SwitchEngine(True)),
        ({"rule": {"id": "fee", "enabled": False}}, SwitchRule("fee", False)),
        ({"rule": {"archive": "fee"}}, ArchiveRule("fee")),
        ({"service": {"access": "accepts and times out", "email": "ok"}},
         SetFaults({"access": "accepts and times out", "email": "ok"})),
        ({"crash": "before commit"}, ArmCrash("before commit")),
        ({"clock": "2026-05-11 08:00"}, SetClock(at("2026-05-11T06:00"))),
        ({"sweep": {"from": "2026-05-10 00:00", "to": "2026-05-11 00:00"}},
         Sweep(at("2026-05-09T22:00"), at("2026-05-10T22:00"))),
        ({"staff": {"mark done": {"rule": "fee", "entity": "booking/b1"}, "reason": "by phone"}},
         ActOnRuns("mark done", "fee", "booking/b1", "by phone")),
        ({"staff": {"retry": {"rule": "fee"}}}, ActOnRuns("retry", "fee")),
        ({"preference": {"member": "m1", "type": "news", "channel": "sms", "enabled": False}},
         SetPreference("m1", "news", "sms", False)),
        ({"callback": {"channel": "email", "of": 2, "event": "bounced"}}, CallBack("email", 2, "bounced")),
    ],
)  # fmt: skip
def test_each_kind_of_step_is_read(written: dict[str, Any], step: Step) -> None:
    assert only_step(**written) == step


def test_a_rule_can_be_changed_in_part_and_the_rest_stays() -> None:
    step = only_step(rule={"id": "remind", "before": "2 hours"})
    assert isinstance(step, SaveRule)
    assert (str(step.authored.rule.before), step.authored.rule.when) == ("2 hours", "booking.starting")
    assert step.authored.enabled


def test_a_change_in_part_keeps_a_rule_switched_off() -> None:
    steps = [
        {"at": "2026-05-11 09:00", "rule": {"id": "remind", "enabled": False}},
        {"at": "2026-05-11 10:00", "rule": {"id": "remind", "name": "Another name"}},
    ]
    saved = read(timeline=steps).timeline[1].step
    assert isinstance(saved, SaveRule)
    assert (saved.authored.rule.name, saved.authored.enabled) == ("Another name", False)


def test_a_rule_can_begin_in_the_timeline_and_be_expected_then() -> None:
    step = {"at": "2026-05-11 09:00", "rule": {**FEE, "id": "later"}}
    scenario = read(timeline=[step], expect={"runs": [{"rule": "later"}]})
    assert [run.rule for run in scenario.expect.runs or ()] == ["later"]


def test_rules_can_stand_in_a_file_of_their_own() -> None:
    named: list[str] = []

    def rules_at(name: str) -> tuple[AuthoredRule, ...]:
        named.append(name)
        return read_rules([REMIND])

    scenario = read_scenario(form(rules="rules.yaml", expect={"runs": [{"rule": "remind"}]}), rules_at)
    assert (named, [authored.rule.id for authored in scenario.rules]) == (["rules.yaml"], ["remind"])


def test_what_is_wrong_with_a_file_of_rules_is_told_where_it_is_named() -> None:
    assert mistakes(rules="rules.yaml") == [("rules", "rules.yaml: there is no such file")]


def test_expectations_are_read() -> None:
    expect = read(
        expect={
            "runs": [
                {"rule": "fee", "entity": "booking/b1", "date": "2026-05-12", "at": "2026-05-12 10:00", "late": True}
            ],
            "runs_include": [{"rule": "remind", "status": "done", "times": 3}],
            "counts": {"done": 4, "skipped": 0},
            "calls": {"access.grant": 1, "billing.charge_fee": {"effects": 1, "attempts": 2}, "none": False},
            "messages": [{"to": "member/m1", "channel": "email", "type": "reminder", "text_contains": "Mia"}],
            "deliveries": {"sent": 1, "cancelled": 1},
            "dossiers": [{"service": "access", "runs": 140}],
            "will_run": [{"entity": "booking/b1", "rule": "remind", "at": "2026-05-11 10:00"}],
            "notices": 1,
        }
    ).expect
    (run,) = expect.runs or ()
    assert (run.date, run.late, run.path) == (date(2026, 5, 12), True, ("expect", "runs", 0))
    assert run.at == Written(at("2026-05-12T08:00"), timedelta(minutes=1))
    assert expect.runs_include[0].times == 3
    assert [(call.operation, call.effects, call.attempts) for call in expect.calls] == [
        ("access.grant", 1, None),
        ("billing.charge_fee", 1, 2),
    ]
    assert (expect.counts, expect.deliveries, expect.notices) == (
        {"done": 4, "skipped": 0},
        {"sent": 1, "cancelled": 1},
        1,
    )


def test_a_time_to_the_minute_means_any_second_of_it() -> None:
    expect = read(expect={"runs": [{"at": "2026-05-12 10:00"}, {"at": "2026-05-12 10:00:00"}]}).expect
    seen = [at("2026-05-12T08:00"), at("2026-05-12T08:00:40"), at("2026-05-12T08:01")]
    fitting = [[run.at.fits(instant) for instant in seen] for run in expect.runs or () if run.at is not None]
    assert fitting == [[True, True, False], [True, False, False]]


def test_types_and_templates_are_read() -> None:
    scenario = read(
        notification_types={"reminder": {"channels": ["email", "sms"], "lane": "bulk"}, "plain": None},
        templates={"reminder/email.de": "Subject: Hallo\nHallo {{ member.name }}", "ready.x/sms.en": "Hi"},
    )
    assert scenario.notification_types == {"reminder": {"channels": ["email", "sms"], "lane": "bulk"}, "plain": {}}
    assert set(scenario.templates) == {"reminder/email.de", "ready.x/sms.en"}
