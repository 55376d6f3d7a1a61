"""Every mistake in a scenario file is told at once, each with its place and with what to do."""

from __future__ import annotations

from typing import Any

import pytest

from automations.scenarios.reading import read_scenario
from domain.errors import InvalidInput
from tests.automations.scenarios.forms import BOOKING, FEE, REMIND, mistakes, no_file, read


def step(happens: dict[str, Any]) -> dict[str, Any]:
    """Return a timeline of one step."""
    return {"timeline": [{"at": "2026-05-11 09:00", **happens}]}


def test_every_mistake_is_told_at_once_with_its_place() -> None:
    found = mistakes(
        scenario=None,
        zone="Europe/Berlyn",
        tick="5 minuets",
        ruels=[],
        rules=[{**REMIND, "before": "soon"}],
        given=[{"booking.created": {"booking_id": "b1", "resource_id": "r1", "starts_at": "morning"}}],
        timeline=[{"at": "2026-05-11 09:00", "booking.canceled": {"booking_id": "b1"}}],
        expect={"runs": [{"status": "finished"}], "call": {}},
    )
    places = [place for place, _ in found]
    assert set(places) >= {
        "",
        "zone",
        "tick",
        "ruels",
        "rules.0.before",
        "given.0.booking.created.starts_at",
        "timeline.0.booking.canceled",
        "expect.runs.0.status",
        "expect.call",
    }
    told = dict(found)
    assert "did you mean rules?" in told["ruels"]
    assert "did you mean booking.cancelled?" in told["timeline.0.booking.canceled"]
    assert "did you mean calls?" in told["expect.call"]
    assert "did you mean Europe/Berlin?" in told["zone"]


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"to": "2026-05-09 00:00"}, "to", "before from"),
        ({"from": None}, "", "'from' is missing"),
        ({"to": None}, "", "'to' is missing"),
        ({"from": 2026}, "from", "is not a time"),
        ({"zone": None}, "", "'zone' is missing"),
        ({"tick": "0 minutes"}, "tick", "more than nothing"),
        ({"tick": "0.001 seconds"}, "tick", "ticks"),
        ({"expect": None}, "", "proves nothing"),
        ({"given": {"booking.created": BOOKING}}, "given", "dash"),
        ({"given": [{"event_id": "e1"}]}, "given.0", "no event"),
        ({"given": [{"stop": "engine"}]}, "given.0.stop", "neither a step nor an event"),
        ({"timeline": [{"booking.changed": {"booking_id": "b1"}}]}, "timeline.0", "when does this happen"),
        ({"timeline": [{"at": "2026-05-11 09:00"}]}, "timeline.0", "nothing happens"),
        ({"timeline": [{"at": "2026-05-21 09:00", "stop": "engine"}]}, "timeline.0.at", "never happens"),
        ({"timeline": [{"at": "2026-05-09 09:00", "stop": "engine"}]}, "timeline.0.at", "before the beginning"),
        (step({"stop": "engines"}), "timeline.0.stop", "did you mean engine?"),
        (step({"stpo": "engine"}), "timeline.0.stpo", "did you mean stop?"),
        (step({"event_id": "e", "stop": "engine"}), "timeline.0.event_id", "event"),
        (step({"service": {"doors": "ok"}}), "timeline.0.service.doors", "no setting"),
        (step({"service": {"access": "down"}}), "timeline.0.service.access", "never"),
        (step({"crash": "during call"}), "timeline.0.crash", "before call"),
        (step({"rule": {"id": "fees", "enabled": True}}), "timeline.0.rule.id", "fee"),
        (step({"rule": {"archive": "fees"}}), "timeline.0.rule.archive", "fee"),
        (step({"staff": {"reason": "x"}}), "timeline.0.staff", "retry"),
        (step({"staff": {"retry": {}}}), "timeline.0.staff.retry", "needs a rule"),
        (step({"sweep": {"from": "2026-05-10 00:00"}}), "timeline.0.sweep", "'to'"),
        (step({"callback": {"channel": "email", "event": "bounced"}}),
         "timeline.0.callback", "number of the message"),
        ({"expect": {"runs": [{"rule": "remnd"}]}}, "expect.runs.0.rule", "did you mean remind?"),
        ({"expect": {"runs": [{"entity": "b1"}]}}, "expect.runs.0.entity", "booking/b1"),
        ({"expect": {"runs": [{"times": 0}]}}, "expect.runs.0.times", "from 1"),
        ({"expect": {"runs": [{"late": "yes"}]}}, "expect.runs.0.late", "true or false"),
        ({"expect": {"runs": [{"date": "12 May"}]}}, "expect.runs.0.date", "not a date"),
        ({"expect": {"counts": {"finished": 1}}}, "expect.counts.finished", "no setting"),
        ({"expect": {"calls": {"billing.charge": 1}}}, "expect.calls.billing.charge", "billing.charge_fee"),
        ({"expect": {"messages": -1}}, "expect.messages", "from 0"),
        ({"expect": {"messages": [{"to": "Mia"}]}}, "expect.messages.0.to", "nobody"),
        ({"expect": []}, "expect", "mapping"),
        ({"notification_types": {"Reminder!": {}}}, "notification_types.Reminder!", "not a name"),
        ({"notification_types": {"reminder": {"chanels": []}}}, "notification_types.reminder.chanels", "channels"),
        ({"templates": {"reminder.de": "x"}}, "templates.reminder.de", "email.de"),
        ({"templates": {"reminder/email.de": 5}}, "templates.reminder/email.de", "text"),
    ],
)  # fmt: skip
def test_each_mistake_has_its_place_and_says_what_to_do(changes: dict[str, Any], place: str, words: str) -> None:
    assert [message for found, message in mistakes(**changes) if found == place and words in message]


def test_steps_stand_in_the_order_in_which_they_happen_on_the_clock_of_that_moment() -> None:
    earlier = {"at": "2026-05-11 08:00", "stop": "engine"}
    later = {"at": "2026-05-11 09:00", "start": "engine"}
    assert mistakes(timeline=[later, earlier]) == [("timeline.1.at", "this lies before the step above it")]
    set_back = {"at": "2026-05-11 09:00", "clock": "2026-05-11 07:00"}
    assert [timed.at.hour for timed in read(timeline=[later, set_back, earlier]).timeline] == [7, 7, 6]


def test_a_mistake_in_the_zone_does_not_make_others_out_of_what_is_right() -> None:
    assert [place for place, _ in mistakes(zone="Mars/Olympus", given=[{"booking.created": BOOKING}])] == ["zone"]


def test_a_mistake_in_a_rule_does_not_make_its_name_unknown() -> None:
    found = mistakes(rules=[{**FEE, "when": "booking.noshow"}], expect={"runs": [{"rule": "fee"}]})
    assert [place for place, _ in found] == ["rules.0.when"]


@pytest.mark.parametrize("data", [None, [], "a text", 5, {}])
def test_what_is_no_scenario_at_all_is_refused(data: object) -> None:
    with pytest.raises(InvalidInput):
        read_scenario(data, no_file)
