"""A rehearsal finds what an engine, which looked whenever something fell due, did over the same history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hypothesis import HealthCheck, given, settings

from automations.authoring import read_rule
from automations.rehearsal import rehearsed_rule
from domain.moment_ranges import Window
from tests.operators import Operator, operator_on, scene
from tests.properties.test_tick_properties import (
    BEGIN,
    IN_MEMORY,
    MINUTE,
    MINUTES,
    PLACES,
    RULES,
    STEPS,
    Story,
    Told,
    beginnings,
    record,
    stories,
)

Outcomes = dict[tuple[str, str, str], tuple[str, datetime | None]]
"""What became of each occasion in the end, and when that was due which ran."""

LIVED = {"would run": "running", "missed": "missed", "skipped": "skipped"}
EVERY = 5
"""Minutes from tick to tick: everything in these histories falls due on one of them."""

UNTIL = BEGIN + MINUTES * MINUTE


def lived(operator: Operator) -> Outcomes:
    operator.follow()
    return {(run["rule"], run["entity"], run["key"]): outcome(run["status"], run["due_at"]) for run in operator.runs()}


def outcome(status: str, due: datetime | None) -> tuple[str, datetime | None]:
    return status, due if status == "running" else None


def rehearsed(operator: Operator) -> Outcomes:
    states = [rehearsed_rule(read_rule(each).rule) for each in RULES]
    walk = operator.app.rehearsal(states, Window(BEGIN, UNTIL))
    found: Outcomes = {}
    for each in walk.outcomes():
        if each.outcome in LIVED:
            named = (each.candidate.rule.id, each.candidate.entity, each.candidate.key)
            found[named] = outcome(LIVED[each.outcome], each.candidate.due)
    return found


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(beginnings, stories)
def test_a_rehearsal_finds_what_really_ran(told: Sequence[Told], story: Story) -> None:
    with operator_on(IN_MEMORY, at=BEGIN) as operator:
        operator.record(*scene())
        record(operator, PLACES)
        operator.save(*RULES)
        record(operator, told)
        ticker = operator.app.worker()._ticker
        for minute in range(0, MINUTES + 1, EVERY):
            operator.clock.set(BEGIN + minute * MINUTE)
            step, rest = divmod(minute, MINUTES // STEPS)
            if not rest:
                record(operator, story.get(step, ()))
            list(ticker.tick())
        assert rehearsed(operator) == lived(operator)
