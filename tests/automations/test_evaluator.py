"""From a fact to claims and traces: echoes, chains, faults, broken rules, and what comes too late."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from automations.candidates import Candidate, Claim, Trace
from automations.evaluator import LONGEST_CHAIN
from automations.rulebook import RuleBook
from domain.errors import Conflict, CorruptEvent, Unavailable
from domain.events import Cause
from domain.facts import Entity, Fact
from domain.rules import saved
from tests.automations.worlds import NOON, Ledger, book, considered, ready_rule, rule_of, scene


def only(found: list[Claim | Trace]) -> Any:
    (one,) = found
    return one


def caused_by(*rules: str) -> Cause:
    return Cause(execution="x" * 64, rules=rules)


def test_a_match_is_claimed_with_the_values_seen() -> None:
    ledger = scene()
    claim = only(considered(ledger, book(ledger, attendees=4), rule_of("booking.created", "booking.attendees above 2")))
    assert isinstance(claim, Claim)
    assert (claim.over, claim.member) == (None, "m1")
    assert [reason.seen for reason in claim.verdict.reasons] == [4]


def test_only_rules_of_the_facts_type_are_asked() -> None:
    ledger = scene()
    assert considered(ledger, book(ledger), rule_of("booking.changed"), rule_of("invoice.issued")) == []


def test_a_disabled_rule_is_not_asked() -> None:
    ledger = scene()
    assert considered(ledger, book(ledger), rule_of("booking.created", enabled=False)) == []


def test_what_does_not_match_leaves_a_trace_of_the_first_condition_that_failed() -> None:
    ledger = scene()
    rule = rule_of("booking.created", "booking.attendees above 2", "resource.kind is desk", "member.locale is de")
    trace = only(considered(ledger, book(ledger, attendees=4), rule))
    assert isinstance(trace, Trace)
    assert trace.verdict.failed is not None
    assert (trace.verdict.failed.fact, trace.verdict.failed.seen) == ("resource.kind", "meeting_room")


def test_a_missing_value_never_matches() -> None:
    ledger = scene()
    found = considered(ledger, book(ledger), rule_of("booking.created", "booking.attendees above 2"))
    assert isinstance(only(found), Trace)


def test_a_rule_ignores_its_own_echo_on_whatever_entity() -> None:
    ledger = scene()
    ledger.tell("booking.created", booking_id="b1", member_id="m1", resource_id="r1")
    fact = ledger.tell("booking.changed", booking_id="b1", attendees=3, cause=caused_by("other", "r"))
    trace = only(considered(ledger, fact, rule_of("booking.changed")))
    assert isinstance(trace, Trace)
    assert "its own echo" in trace.note


def test_a_chain_of_five_is_cut_and_staff_hear_of_it() -> None:
    ledger = scene()
    chain = [f"r{number}" for number in range(LONGEST_CHAIN)]
    fact = ledger.tell("booking.changed", booking_id="b1", attendees=3, cause=caused_by(*chain))
    claim = only(considered(ledger, fact, rule_of("booking.changed")))
    assert (claim.over, claim.reason) == ("failed", "cut: r0 → r1 → r2 → r3 → r4 caused one another")


def test_a_chain_of_four_goes_on() -> None:
    ledger = scene()
    fact = ledger.tell("booking.changed", booking_id="b1", attendees=3, cause=caused_by("a", "b", "c", "d"))
    claim = only(considered(ledger, fact, rule_of("booking.changed")))
    assert (claim.over, claim.candidate.cause) == (None, caused_by("a", "b", "c", "d"))


def test_a_fault_fails_loudly() -> None:
    ledger = scene()
    fact = book(ledger, code="not a number")
    claim = only(considered(ledger, fact, rule_of("booking.created", "booking.extra.code above 5")))
    assert claim.over == "failed"
    assert claim.reason.startswith("could not be decided: booking.extra.code is personal")
    assert "not a number" not in claim.reason


def test_a_rule_that_cannot_be_read_any_more_fails_loudly() -> None:
    ledger = scene()
    state = rule_of("booking.created")
    broken = replace(state, rule=state.rule.model_copy(update={"when": "booking.sung"}))
    fact = book(ledger).model_copy(update={"type": "booking.sung"})
    claim = only(considered(ledger, fact, broken))
    assert claim.over == "failed"
    assert claim.reason.startswith("the rule is broken: no trigger is called")


def test_an_event_stream_that_cannot_be_read_is_the_trouble_of_its_candidates_alone() -> None:
    ledger = scene()
    bad, good = book(ledger, "b1"), book(ledger, "b2")
    ledger.corrupt = {"booking/b1"}
    rule = rule_of("booking.created")
    claim = only(considered(ledger, bad, rule))
    assert (claim.over, "cannot be read" in claim.reason) == ("failed", True)
    assert only(considered(ledger, good, rule)).over is None


class Away(Ledger):
    """A ledger whose database is away."""

    error: Exception = Unavailable("the connection was lost")

    def get(self, stream: str) -> Entity:
        raise self.error


@pytest.mark.parametrize("error", [Unavailable("the connection was lost"), Conflict("read again")])
def test_a_database_that_is_away_is_nobodys_fault(error: Exception) -> None:
    ledger = Away(scene().facts)
    ledger.error = error
    with pytest.raises(type(error)):
        considered(ledger, book(scene()), rule_of("booking.created", "booking.attendees above 2"))


def test_trouble_of_another_kind_tells_its_class_and_no_value() -> None:
    ledger = Away(scene().facts)
    ledger.error = RuntimeError("mia@example.org")
    claim = only(considered(ledger, book(scene()), rule_of("booking.created")))
    assert (claim.over, claim.reason) == ("failed", "could not be evaluated: RuntimeError")


@pytest.mark.parametrize(("late_by", "over"), [(timedelta(0), None), (timedelta(microseconds=1), "missed")])
def test_exactly_at_the_limit_it_runs_and_later_it_is_missed(late_by: timedelta, over: str | None) -> None:
    ledger = scene()
    rule = rule_of("booking.created", give_up_after="2 hours")
    claim = only(considered(ledger, book(ledger), rule, at=NOON + timedelta(hours=2) + late_by))
    assert claim.over == over


def test_an_event_trigger_has_no_limit_of_its_own() -> None:
    ledger = scene()
    claim = only(considered(ledger, book(ledger), rule_of("booking.created"), at=NOON + timedelta(days=999)))
    assert claim.over is None


def test_what_comes_too_late_and_does_not_match_is_not_missed() -> None:
    ledger = scene()
    rule = rule_of("booking.created", "booking.attendees above 9", give_up_after="2 hours")
    assert isinstance(only(considered(ledger, book(ledger, attendees=1), rule, at=NOON + timedelta(days=1))), Trace)


def test_looking_again_gives_the_same_keys() -> None:
    ledger = scene()
    fact, rule = book(ledger), rule_of("booking.created")
    keys = {only(considered(ledger, fact, rule)).candidate.key for _ in range(3)}
    assert len(keys) == 1


def candidate(fact: Fact, **more: Any) -> Candidate:
    return Candidate(ready_rule("booking.created", **more), fact.stream, fact.event_date, event=fact)


def named(source: str, identifier: str) -> Fact:
    return book(scene()).model_copy(update={"source": source, "id": identifier})


def test_each_event_is_an_occasion_of_its_own_unless_the_rule_says_otherwise() -> None:
    one, other = named("s", "1"), named("s", "2")
    assert candidate(one).key != candidate(other).key
    assert candidate(one, once="date").key == candidate(other, once="date").key
    assert candidate(one, once="entity").key == candidate(other, once="entity").key
    assert candidate(one, once="date").key != candidate(one, once="entity").key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a#b", "c"), ("a", "b#c")),
        (("a%23b", "c"), ("a#b", "c")),
        (("a", "%23b"), ("a", "#b")),
        (("a#", "b"), ("a", "#b")),
    ],
)
def test_no_two_events_are_one_occasion_whatever_their_names_hold(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert candidate(named(*one)).key != candidate(named(*other)).key


def test_the_key_knows_neither_the_wording_nor_the_instant_of_looking() -> None:
    fact = book(scene())
    reworded = candidate(fact, name="Another name", give_up_after="2 hours")
    assert reworded.key == candidate(fact).key


def test_a_rule_whose_stream_is_spoilt_is_broken_until_it_gets_a_new_wording() -> None:
    state = rule_of("booking.created")
    rules = RuleBook([state, rule_of("booking.created", identifier="other")])
    rules.spoil(CorruptEvent("rule/r", state.stream_version + 1, "rule.revised", "not JSON"))
    assert [bool(rule.broken) for rule in rules.waiting_for("booking.created")] == [False, True]
    spoilt = rules.get("r")
    assert spoilt is not None
    new = rule_of("booking.created", "booking.attendees above 2").rule
    for event in saved(spoilt, new, enabled=True, at=NOON, by="test"):
        rules.apply(event)
    assert [rule.broken for rule in rules.waiting_for("booking.created")] == ["", ""]
